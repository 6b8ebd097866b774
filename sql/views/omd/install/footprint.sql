-- Sizes are those of the files, so a table that a load fills at the moment shows what is written.
-- Tables that OMD has generated in other schemas belong to omd_owner too.

CREATE OR REPLACE VIEW omd_report.footprint AS
SELECT
    n.nspname::text AS schema_name,
    c.relname::text AS table_name,
    greatest(c.reltuples, 0)::bigint AS row_estimate,
    s.table_bytes,
    s.index_bytes
FROM pg_class AS c
INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
CROSS JOIN LATERAL omd.table_bytes(c.oid) AS s
WHERE c.relkind IN ('r', 'm') AND pg_get_userbyid(c.relowner) = 'omd_owner'
ORDER BY s.table_bytes + s.index_bytes DESC, n.nspname ASC, c.relname ASC;

COMMENT ON VIEW omd_report.footprint IS
'How much room each table of OMD takes, the largest first.';
COMMENT ON COLUMN omd_report.footprint.schema_name IS 'The schema.';
COMMENT ON COLUMN omd_report.footprint.table_name IS 'The table, or the part of one.';
COMMENT ON COLUMN omd_report.footprint.row_estimate IS
'How many rows it has, as of the last VACUUM or ANALYZE.';
COMMENT ON COLUMN omd_report.footprint.table_bytes IS 'Bytes of its rows.';
COMMENT ON COLUMN omd_report.footprint.index_bytes IS 'Bytes of its indexes.';
