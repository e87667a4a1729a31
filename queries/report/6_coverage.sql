-- reads:  result_coverage(doc_id, characters, in_passages, in_families, reused, …)
-- writes: how many documents and characters there are, and how many of these stand elsewhere
SELECT
    CAST(count(*) AS BIGINT) AS documents,
    CAST(coalesce(sum(characters), 0) AS BIGINT) AS characters,
    CAST(coalesce(sum(in_passages), 0) AS BIGINT) AS in_passages,
    CAST(coalesce(sum(in_families), 0) AS BIGINT) AS in_families,
    CAST(coalesce(sum(reused), 0) AS BIGINT) AS reused
FROM result_coverage
