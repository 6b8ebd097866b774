-- The differences between two documents decide whether there is a new version. The Module is
-- registered each time, so that its rollback follows the tables that exist.

CREATE OR REPLACE PROCEDURE omd_decision.define_stage(
    p_stage jsonb,
    p_dry_run boolean DEFAULT FALSE,
    INOUT p_version integer DEFAULT NULL,
    INOUT p_changes jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $define_stage$
DECLARE
    v_code text;
    v_problems jsonb;
    v_definition jsonb;
    v_stage omd_decision.stage;
    v_old jsonb;
    v_module_id integer;
BEGIN
    p_stage := omd.require_argument('p_stage', p_stage);
    p_dry_run := omd.require_argument('p_dry_run', p_dry_run);
    PERFORM omd.require_read_committed();
    v_code := CASE WHEN jsonb_typeof(p_stage) = 'object' THEN p_stage ->> 'stage' END;
    PERFORM omd_decision._raise_invalid(
        'stage', v_code,
        jsonb_build_array(jsonb_build_object('path', d.path, 'text', d.problem))
    )
    FROM omd.document_problem(p_stage) AS d
    WHERE d.problem IS NOT NULL;
    SELECT
        jsonb_agg(
            jsonb_build_object('path', p.path, 'text', p.text)
            ORDER BY p.path COLLATE "C", p.text COLLATE "C"
        )
    INTO v_problems
    FROM omd_decision._stage_problems(p_stage) AS p;
    IF v_problems IS NOT NULL THEN
        PERFORM omd_decision._raise_invalid('stage', v_code, v_problems);
    END IF;

    v_definition := omd_decision._with_defaults(p_stage);
    IF NOT p_dry_run THEN
        INSERT INTO omd_decision.stage (stage_code, version) VALUES (v_code, 0)
        ON CONFLICT (stage_code) DO NOTHING;
    END IF;
    SELECT s.* INTO v_stage
    FROM omd_decision.stage AS s
    WHERE s.stage_code = v_code
    FOR NO KEY UPDATE;
    SELECT v.definition INTO v_old
    FROM omd_decision.stage_version AS v
    WHERE v.stage_id = v_stage.stage_id AND v.version = v_stage.version;
    SELECT
        coalesce(
            jsonb_agg(
                jsonb_build_object('path', c.path, 'old', c.old, 'new', c.new)
                ORDER BY c.path COLLATE "C"
            ),
            '[]'
        )
    INTO p_changes
    FROM omd_decision._changes(
        '',
        coalesce(omd_decision._comparable(v_old), '{"links": {}, "outputs": {}}'),
        omd_decision._comparable(v_definition)
    ) AS c;
    p_version := coalesce(v_stage.version, 0) + (p_changes <> '[]')::integer;
    IF p_dry_run THEN
        RETURN;
    END IF;

    IF p_changes <> '[]' THEN
        INSERT INTO omd_decision.stage_version (stage_id, version, definition, defined_by)
        VALUES (v_stage.stage_id, p_version, v_definition, omd.editor());
    END IF;
    CALL omd_decision._register_stage_module(v_stage.stage_id, v_definition, v_module_id);
    UPDATE omd_decision.stage AS s SET version = p_version, module_id = v_module_id
    WHERE s.stage_id = v_stage.stage_id
        AND (s.version, s.module_id) IS DISTINCT FROM (p_version, v_module_id);
    PERFORM omd.set_module_kind(v_module_id, 'STAGE', omd_decision._engine_of(v_stage.stage_id));
    PERFORM omd_decision._save_window(v_stage.stage_id);
    IF v_stage.module_id <> v_module_id THEN
        PERFORM omd.set_module_kind(v_stage.module_id);
    END IF;
    -- The change may mend what has failed.
    IF p_changes <> '[]' THEN
        PERFORM omd.clear_failures(v_module_id);
    END IF;
    PERFORM omd_decision._warn_of_window(v_definition);
    IF v_definition ->> 'mode' = 'KEY' AND v_definition #> '{links,0,array}' = 'false' THEN
        RAISE WARNING USING
            MESSAGE = format('the primary link of stage "%s" is no array', v_code),
            HINT = 'The first record of a key takes all records of the other links that match.';
    END IF;
END
$define_stage$;

COMMENT ON PROCEDURE omd_decision.define_stage IS
'Defines the stage of the document p_stage; what differs from the present document, with the '
'defaults filled in, is the next version. p_stage: {"stage", "mode", "batch_size", "keys", "wave", '
'"window", "start", "ruleset", "links", "outputs", "keep", "max_array_rows", "module"}, as '
'docs/explanation/decision.md describes it. p_dry_run: TRUE tells the changes, or the problems, '
'and makes none (FALSE). Returns p_version, the version that holds then, and p_changes, a list of '
'{"path", "old", "new"}; when it is empty the document is the present one. It registers the Module '
'of the stage and its rollback each time; a next version forgets its failures. Errors: OM005: '
'p_stage or p_dry_run is NULL; OM006: there is no such area; OM013: another room has registered '
'its Module for itself; OM014: the isolation level is not read committed; OM082: the document is '
'wrong; its DETAIL lists all problems; OM111: another target while a rollback is pending or a run '
'executes. Locks: the stage, the Module row; the rows of the Modules that write what its window '
'reads. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_decision.define_stage TO omd_admin;
