-- The kind is found once, when a topic is registered, since to declare the runs of a Module locks
-- it. A source that somebody has registered with another way of finding its offset keeps that: its
-- rows may come from others than our Modules.

CREATE OR REPLACE FUNCTION omd_lineage._source_kind(
    p_table_code text,
    p_is_base boolean,
    p_pos_column text,
    p_source_offset text,
    p_source_pos_column text,
    p_is_made_by_topic boolean
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $source_kind$
DECLARE
    v_pos_column CONSTANT text := coalesce(
        CASE WHEN p_is_base THEN p_pos_column END,
        p_source_pos_column,
        -- Nobody says by which column a second table is read.
        CASE
            WHEN NOT p_is_base
                AND p_source_offset IS NULL
                AND omd.target_column_type(p_table_code, 'pos') IS NULL
                AND omd.target_column_type(p_table_code, 'omd_insert_datetime') IS NOT NULL
                THEN 'omd_insert_datetime'
        END
    );
BEGIN
    IF EXISTS (
        SELECT FROM omd.source_position AS s
        WHERE s.table_code = p_table_code AND s.source_kind_code = 'FACTS'
    ) THEN
        RETURN 'FACTS';
    ELSIF p_source_offset = 'LAKE' THEN
        RETURN 'LAKE';
    ELSIF v_pos_column = 'omd_insert_datetime'
        AND coalesce(p_source_offset = 'RUNS', TRUE)
        AND (p_is_base OR NOT p_is_made_by_topic)
        AND omd.declare_runs_of(p_table_code)
    THEN
        RETURN 'RUNS';
    END IF;
    RETURN NULL;
END
$source_kind$;

COMMENT ON FUNCTION omd_lineage._source_kind IS
'Returns by the positions of which kind of source the table p_table_code is read: FACTS, a view '
'that an interface offers; LAKE; RUNS, a table that Modules write and that is read by the stamp '
'of writing, whose runs it declares; NULL: by none. p_is_base: it is a base table, which the '
'topic reads by p_pos_column. p_source_offset and p_source_pos_column: what the source has that '
'is registered for it. p_is_made_by_topic: it is the destination of a topic. Locks: the rows of '
'its Modules.';
