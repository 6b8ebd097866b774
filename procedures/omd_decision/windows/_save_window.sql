-- What ready work reads of a document. A table that is read by its times of writing is a source of
-- the runs of who writes it, also through a view.

CREATE OR REPLACE FUNCTION omd_decision._save_window(
    p_stage_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_window$
DECLARE
    v_stage omd_decision.stage;
    v_definition jsonb;
    v_tables text[];
    v_block_source text;
    v_table text;
BEGIN
    SELECT s.* INTO v_stage FROM omd_decision.stage AS s WHERE s.stage_id = p_stage_id;
    SELECT v.definition INTO v_definition
    FROM omd_decision.stage_version AS v
    WHERE v.stage_id = p_stage_id AND v.version = v_stage.version;
    v_block_source := omd_decision._block_source(v_definition);
    v_tables := ARRAY(
        SELECT DISTINCT l.source
        FROM omd_decision._links(v_definition) AS l
        WHERE v_definition ? 'window' AND NOT l.is_buffer AND l.source IS NOT NULL
        ORDER BY l.source
    );
    UPDATE omd_decision.stage AS s SET
        start_code = n.start_code,
        start_every = n.start_every,
        window_code = n.window_code,
        window_delay = n.window_delay
    FROM (
        SELECT
            CASE
                WHEN v_definition #>> '{start,every}' IS NOT NULL THEN 'EVERY'
                ELSE v_definition #>> '{start,when}'
            END AS start_code,
            (v_definition #>> '{start,every}')::interval AS start_every,
            CASE
                WHEN v_definition ? 'window' THEN coalesce(v_definition #>> '{window,by}', 'COLUMN')
            END AS window_code,
            (v_definition #>> '{window,delay}')::interval AS window_delay
    ) AS n
    WHERE s.stage_id = p_stage_id
        AND (s.start_code, s.start_every, s.window_code, s.window_delay)
        IS DISTINCT FROM (n.start_code, n.start_every, n.window_code, n.window_delay);
    DELETE FROM omd_decision.stage_source AS t
    WHERE t.stage_id = p_stage_id AND t.table_code <> ALL(v_tables);
    INSERT INTO omd_decision.stage_source (stage_id, table_code)
    SELECT p_stage_id, n.table_code FROM unnest(v_tables) AS n (table_code)
    ON CONFLICT (stage_id, table_code) DO NOTHING;
    PERFORM omd.declare_reader(
        v_stage.module_id,
        coalesce(v_block_source, ''),
        CASE WHEN v_block_source IS NULL THEN '{}' ELSE v_tables END
    );
    PERFORM omd_decision._save_stage_inputs(v_stage.module_id, v_definition);
    IF v_block_source IS NULL THEN
        FOREACH v_table IN ARRAY v_tables LOOP
            PERFORM omd.declare_runs_under(v_table);
        END LOOP;
    END IF;
END
$save_window$;

COMMENT ON FUNCTION omd_decision._save_window IS
'Writes down when the stage p_stage_id starts and what its window is made of, as its present '
'document says, and declares what it reads: the changes of an interface, or the runs of the '
'Modules that write its sources. Locks: the stage; the rows of these Modules; the sources.';
