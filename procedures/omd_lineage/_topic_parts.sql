-- Takes the name of a topic apart: schema.table[#tag][:shard].

CREATE OR REPLACE FUNCTION omd_lineage._topic_parts(
    p_topic text,
    OUT table_code text,
    OUT tag text,
    OUT shard text
)
RETURNS record
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        m.parts[1] AS table_code,
        m.parts[2] AS tag,
        m.parts[3] AS shard
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
'Table, tag and shard in the name of the topic p_topic (schema.table[#tag][:shard], the table '
'quoted where SQL needs it). All NULL when it is no such name. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._topic_parts FROM PUBLIC;
