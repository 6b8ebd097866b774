-- Each routine of the page begins so.

CREATE OR REPLACE FUNCTION omd_web._require_action(
    p_action_code text
)
RETURNS omd_web.action
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_action$
DECLARE
    v_action omd_web.action;
BEGIN
    p_action_code := omd.require_argument('p_action_code', p_action_code);
    SELECT a.* INTO v_action FROM omd_web.action AS a WHERE a.action_code = p_action_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM098', jsonb_build_object('what', format('action %s', p_action_code))
        );
    END IF;
    RETURN v_action;
END
$require_action$;

COMMENT ON FUNCTION omd_web._require_action IS
'Returns the action p_action_code. Errors: OM005: it is NULL; OM098: there is no such action. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._require_action TO omd_reader;
