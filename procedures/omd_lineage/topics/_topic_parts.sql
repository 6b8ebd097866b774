-- This is the only place that knows the form of a name. The table is spelled as PostgreSQL prints
-- it, since two spellings of one table would be two topics, each of which loads its rows.

CREATE OR REPLACE FUNCTION omd_lineage._topic_parts(
    p_topic text,
    OUT p_table_code text,
    OUT p_tag text,
    OUT p_shard text,
    OUT p_canonical_topic text
)
RETURNS record
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        n.table_code AS p_table_code,
        m.parts[2] AS p_tag,
        m.parts[3] AS p_shard,
        n.table_code || coalesce('#' || m.parts[2], '') || coalesce(':' || m.parts[3], '')
            AS p_canonical_topic
    FROM
        (
            SELECT
                regexp_match(
                    p_topic,
                    '^((?:\s*"(?:[^"]|"")+"\s*|[^".#:]+)\.(?:\s*"(?:[^"]|"")+"\s*|[^".#:]+))'
                    '(?:#([^#:]+))?(?::([^#:]+))?$'
                ) AS parts
        ) AS m
    CROSS JOIN LATERAL omd.quote_table(m.parts[1], 'POSTGRES') AS n (table_code);
END;

COMMENT ON FUNCTION omd_lineage._topic_parts IS
'Splits the name of the topic p_topic (schema.table[#tag][:shard], the table quoted where SQL '
'needs it) into p_table_code, p_tag and p_shard. p_table_code and p_canonical_topic, the whole '
'name, are spelled as PostgreSQL prints the table, and are NULL when it is not such a name. Locks:'
' none.';
