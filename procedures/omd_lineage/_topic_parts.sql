-- The form of a name is known here, and nowhere else.

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
'Takes the name of the topic p_topic (schema.table[#tag][:shard], the table quoted where SQL '
'needs it) apart into p_table_code, p_tag and p_shard; all are NULL when it is no such name. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._topic_parts FROM PUBLIC;
