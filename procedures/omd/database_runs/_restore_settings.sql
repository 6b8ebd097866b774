-- The procedure sets no search_path, since that may be one of the settings it restores; so every
-- name, type and operator is qualified.

CREATE OR REPLACE PROCEDURE omd._restore_settings(
    p_settings jsonb,
    p_executable text
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $restore_settings$
DECLARE
    v_setting pg_catalog.record;
    v_present pg_catalog.jsonb;
BEGIN
    IF p_settings IS NULL THEN
        PERFORM omd.raise_error(
            'OM005', pg_catalog.jsonb_build_object('argument', 'p_settings')
        );
    END IF;
    v_present := omd._session_settings(p_executable);
    IF v_present OPERATOR(pg_catalog.=) p_settings THEN
        RETURN;
    END IF;
    FOR v_setting IN
        SELECT c.name, c.value FROM omd._changed_settings(p_settings, v_present) AS c
    LOOP
        IF v_setting.value IS NOT NULL THEN
            PERFORM pg_catalog.set_config(v_setting.name, v_setting.value, FALSE);
        ELSE
            EXECUTE pg_catalog.format('RESET %I', v_setting.name);
        END IF;
    END LOOP;
END
$restore_settings$;

COMMENT ON PROCEDURE omd._restore_settings IS
'Sets the settings of this session again to what _session_settings(p_executable) returned before '
'(p_settings). Errors: OM005. Locks: none.';
GRANT EXECUTE ON PROCEDURE omd._restore_settings TO omd_runner;
