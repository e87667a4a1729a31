"""The similarity join in DuckDB: duckdb_sql.py NAME INPUT OUTPUT N THRESHOLD, where NAME.sql is beside this."""
import sys
from pathlib import Path

import duckdb

name, source, output, n, threshold = sys.argv[1:]
hashed = ", ".join(f"word[i + {k}]" if k else "word[i]" for k in range(int(n)))
# A macro, since the number of arguments is no parameter; 1e-9 keeps what rounding would take from ceil(t * size).
duckdb.execute(f"""
    CREATE MACRO shingles(word) AS list_distinct([hash({hashed}) FOR i IN range(1, len(word) - {int(n) - 2})]);
    CREATE MACRO jaccard(shared, size_a, size_b) AS CAST(shared AS DOUBLE) / (size_a + size_b - shared);
    CREATE MACRO threshold() AS CAST({threshold} AS DOUBLE);
    CREATE MACRO at_least(size) AS greatest(1, CAST(ceil(threshold() * size - 1e-9) AS BIGINT));
    CREATE MACRO at_least_of_smaller(size) AS
        greatest(1, CAST(ceil(2 * threshold() / (1 + threshold()) * size - 1e-9) AS BIGINT));
    CREATE VIEW texts AS SELECT id, text FROM read_parquet('{source}');
""")
duckdb.execute(Path(__file__).with_name(f"{name}.sql").read_text())
duckdb.execute(f"COPY pairs TO '{output}' (FORMAT parquet)")
