-- This is the only place that knows the form of a name.

CREATE OR REPLACE FUNCTION omd_lineage._topic_parts(
    p_topic text,
    OUT p_table_code text,
    OUT p_tag text,
    OUT p_shard text
)
RETURNS record
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        m.parts[1] AS p_table_code,
        m.parts[2] AS p_tag,
        m.parts[3] AS p_shard
    FROM
        (
            SELECT
                regexp_match(
                    p_topic,
                    '^((?:"(?:[^"]|"")+"|[^".#:]+)\.(?:"(?:[^"]|"")+"|[^".#:]+))'
                    '(?:#([^#:]+))?(?::([^#:]+))?$'
                ) AS parts
        ) AS m;
END;

COMMENT ON FUNCTION omd_lineage._topic_parts IS
'Splits the name of the topic p_topic (schema.table[#tag][:shard], the table quoted where SQL '
'needs it) into p_table_code, p_tag and p_shard; all are NULL when it is not such a name. Locks: '
'none.';
REVOKE ALL ON FUNCTION omd_lineage._topic_parts FROM PUBLIC;
