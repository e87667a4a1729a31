-- reads:  clustered(cluster_id, unit, doc, text_id, representative, similarity), docs(doc, doc_id), units(unit, text)
-- writes: clusters(cluster_id, member, doc_id, sent, representative, similarity_to_representative, text): the places of each
--         cluster, whose id is its smallest member; representative is true for one of them, the first with the text
--         that stands for the cluster. Ids and texts are copied: views of those that were joined would keep all of them in each batch that is sorted
SELECT
    clustered.cluster_id,
    clustered.unit AS member,
    arrow_cast(docs.doc_id, 'Utf8') AS doc_id,
    CAST(clustered.unit % 4294967296 AS INT) AS sent,
    clustered.unit = clustered.representative AS representative,
    clustered.similarity AS similarity_to_representative,
    arrow_cast(units.text, 'Utf8') AS text
FROM clustered JOIN docs ON clustered.doc = docs.doc JOIN units ON clustered.unit = units.unit
ORDER BY clustered.cluster_id, clustered.unit
