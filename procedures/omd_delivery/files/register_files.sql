-- The list is what staging reads. One that comes again must be what was read before, else nobody
-- would know what was judged anew.

CREATE OR REPLACE PROCEDURE omd_delivery.register_files(
    p_delivery_id bigint,
    p_attempt integer,
    p_entity_code text,
    p_files jsonb
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_files$
DECLARE
    v_delivery omd_delivery.delivery;
    v_entity_id integer;
    v_return record;
    v_problem text;
BEGIN
    p_files := omd.require_argument('p_files', p_files);
    p_entity_code := omd.require_argument('p_entity_code', p_entity_code);
    v_delivery := omd_delivery._hold_attempt(p_delivery_id, p_attempt);
    PERFORM omd_delivery._require_event(v_delivery, 'stage_verdict', 'take files');
    PERFORM omd_delivery._require_run(v_delivery);
    SELECT e.entity_id INTO v_entity_id
    FROM omd_delivery.delivery_entity AS de
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    WHERE de.delivery_id = p_delivery_id AND e.entity_code = p_entity_code;
    IF NOT FOUND THEN
        PERFORM omd_delivery._raise_argument(
            'p_entity_code', p_entity_code, 'the delivery does not have it'
        );
    END IF;
    SELECT r.recall_id, r.former_delivery_id INTO v_return
    FROM omd_delivery.delivery_return AS r
    WHERE r.agreement_id = v_delivery.agreement_id
        AND r.snapshot_datetime = v_delivery.snapshot_datetime
        AND r.is_redelivered
        AND r.delivery_id = p_delivery_id
    LIMIT 1;
    IF FOUND THEN
        v_problem := omd_delivery._files_problem(
            v_return.former_delivery_id, p_entity_code, p_files
        );
        IF v_problem IS NOT NULL THEN
            PERFORM omd.raise_error(
                'OM139',
                jsonb_build_object(
                    'delivery_id', v_return.former_delivery_id,
                    'entity', p_entity_code,
                    'problem', v_problem,
                    'recall_id', v_return.recall_id
                )
            );
        END IF;
    END IF;
    DELETE FROM omd_delivery.delivery_file AS f
    WHERE f.delivery_id = p_delivery_id AND f.entity_id = v_entity_id;
    INSERT INTO omd_delivery.delivery_file (
        delivery_id, entity_id, file_no, uri, bytes, modified_datetime, root
    )
    SELECT
        p_delivery_id, v_entity_id, f.file_no, f.uri, f.bytes, f.modified_datetime, f.root
    FROM omd_delivery._listed_files(p_files) AS f;
END
$register_files$;

COMMENT ON PROCEDURE omd_delivery.register_files IS
'For programs: '
'Records the files of the entity p_entity_code that the run p_attempt of the delivery '
'p_delivery_id reads, in place of those recorded before: by them it is delivered again after a '
'recall. p_files: [{"uri", "bytes", "modified": a time, or milliseconds since 1970, "root": what '
'was handed over, by default the uri}], in the order of their numbers. Errors: OM005: an argument '
'is NULL; OM014: the isolation level is not read committed; OM034: there is no such delivery; '
'OM036: the delivery does not have the entity, or p_files is no such list; OM130: it is in '
'another status than LOADED; OM132: p_attempt is not its newest run, or has ended; OM139: it '
'comes again after a recall, and these are other files. Locks: the interface. Call again when the '
'answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.register_files TO omd_runner;
