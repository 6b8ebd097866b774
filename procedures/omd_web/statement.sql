-- The page sends this text to the letter, and so may anybody.

CREATE OR REPLACE FUNCTION omd_web.statement(
    p_action_code text,
    p_key text,
    p_arguments jsonb DEFAULT '{}',
    p_reason text DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $statement$
DECLARE
    v_action CONSTANT omd_web.action := omd_web._require_action(p_action_code);
    v_call CONSTANT text := omd_web._call(
        v_action,
        omd_web._evaluate(v_action.object_kind, p_key, p_action_code)
        #> ARRAY['actions', p_action_code, 'values'],
        coalesce(p_arguments, '{}'),
        FALSE
    );
BEGIN
    RETURN omd_web._with_reason(
        v_action.routine,
        v_call,
        coalesce(
            CASE WHEN p_reason ~ '\S' THEN p_reason END,
            CASE WHEN v_action.needs_reason THEN 'by hand' END
        )
    );
END
$statement$;

COMMENT ON FUNCTION omd_web.statement IS
'Returns the statement that does p_action_code to the object p_key: a CALL, each argument a '
'literal of the type that the procedure has. p_arguments: what omd_web.actions asks, as '
'{"p_priority": 1}; NULL counts as not given. p_reason: why; the event of the action keeps it, as '
'omd.event_log.reason. With a reason it is BEGIN, SET LOCAL omd.reason, CALL and COMMIT, a line '
'each; where the procedure commits itself, SET omd.reason, CALL and RESET omd.reason. Where '
'programs call the procedure too, the reason is ''by hand'' when none is given. It changes '
'nothing, and asks neither for the state nor for rights. Errors: OM005: an argument is NULL, or a '
'required one is missing; OM013: p_arguments names another one; OM098: there is no such action or '
'object. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web.statement TO omd_reader;
