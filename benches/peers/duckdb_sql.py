"""The similarity join in DuckDB: duckdb_sql.py NAME INPUT OUTPUT N THRESHOLD, where NAME.sql is beside this."""
import sys
from pathlib import Path

import duckdb

name, source, output, n, threshold = sys.argv[1:]
run = ", ".join(["word[i]", *(f"word[i + {k}]" for k in range(1, int(n)))])
# 1e-9 keeps what rounding would add to threshold * size. A macro puts its arguments in as text, wherever they are named, so
# the words of a text are a column: they would be split again for each run otherwise.
duckdb.execute(f"""
    CREATE MACRO threshold() AS CAST({threshold} AS DOUBLE);
    CREATE MACRO jaccard(shared, size_a, size_b) AS CAST(shared AS DOUBLE) / (size_a + size_b - shared);
    CREATE MACRO least_shared(share, size) AS greatest(1, CAST(ceil(share * size - 1e-9) AS BIGINT));
    CREATE VIEW words AS SELECT id, string_split(text, ' ') AS word FROM read_parquet('{source}');
    CREATE TABLE postings AS
        WITH sets AS (
            SELECT id, list_distinct([hash({run}) FOR i IN range(1, len(word) - {int(n) - 2})]) AS set FROM words
        )
        SELECT id, len(set) AS size, unnest(set) AS element FROM sets;
""")
duckdb.execute(Path(__file__).with_name(f"{name}.sql").read_text())
duckdb.execute(f"COPY pairs TO '{output}' (FORMAT parquet)")
