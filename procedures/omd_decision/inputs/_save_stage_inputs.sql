-- The window cuts the links that are no buffers; whatever else a stage reads, it reads as it is. A
-- table that is read both ways is read as it is.

CREATE OR REPLACE FUNCTION omd_decision._save_stage_inputs(
    p_module_id integer,
    p_definition jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_stage_inputs$
BEGIN
    IF p_module_id IS NULL THEN
        RETURN;
    END IF;
    PERFORM omd.save_inputs(
        p_module_id,
        'ROOM',
        (
            SELECT coalesce(jsonb_agg(l.item ORDER BY l.item), '[]')
            FROM (
                SELECT DISTINCT
                    jsonb_strip_nulls(
                        jsonb_build_object(
                            'table', l.source,
                            'kind', CASE WHEN w.is_cut THEN 'WINDOW' ELSE 'ALL' END,
                            'pos', CASE WHEN w.is_cut THEN p_definition #>> '{window,column}' END
                        )
                    ) AS item
                FROM omd_decision._links(p_definition) AS l
                CROSS JOIN LATERAL (
                    SELECT p_definition ? 'window' AND NOT coalesce(l.is_buffer, FALSE) AS is_cut
                ) AS w
                WHERE l.source IS NOT NULL
            ) AS l
        )
    );
END
$save_stage_inputs$;

COMMENT ON FUNCTION omd_decision._save_stage_inputs IS
'Tells process control what the runs of the stage with the Module p_module_id and the document '
'p_definition read. Locks: the Module, where something is new.';
