-- reads:  clustered(cluster_id, unit, doc, text_id, representative, similarity), docs(doc, doc_id), units(unit, text)
-- writes: clusters(cluster_id, member, doc_id, sent, representative, similarity_to_representative, text): the places of each
--         cluster, whose id is its smallest member; representative says whether the text there is that of the representative
SELECT
    clustered.cluster_id,
    clustered.unit AS member,
    docs.doc_id,
    CAST(clustered.unit % 4294967296 AS INT) AS sent,
    clustered.text_id = clustered.representative AS representative,
    clustered.similarity AS similarity_to_representative,
    units.text
FROM clustered JOIN docs ON clustered.doc = docs.doc JOIN units ON clustered.unit = units.unit
ORDER BY clustered.cluster_id, clustered.unit
