-- A hook is called by its name, with the rights of the owner or of a caller who trusts it. So what
-- is called is ours, and is what the caller expects: that is seen here, and not when it is called.

CREATE OR REPLACE FUNCTION omd._check_hook()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $check_hook$
DECLARE
    v_hook omd.hook;
    v_routine record;
    v_type regtype;
    v_columns text[];
    v_expected text;
BEGIN
    SELECT h.* INTO STRICT v_hook FROM omd.hook AS h WHERE h.hook = new.hook;
    v_type := regexp_replace(v_hook.answer, '^SETOF ', '')::regtype;
    v_columns := ARRAY(
        SELECT format('%s %s', a.attname, format_type(a.atttypid, a.atttypmod))
        FROM pg_attribute AS a
        INNER JOIN pg_type AS t ON a.attrelid = t.typrelid
        WHERE t.oid = v_type AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY a.attnum
    );
    SELECT
        p.oid,
        p.prokind = CASE WHEN v_hook.answer IS NULL THEN 'p' ELSE 'f' END AS is_kind,
        v_hook.answer IS NULL
        OR p.proretset = starts_with(v_hook.answer, 'SETOF ')
        AND (
            p.prorettype = v_type
            OR v_columns <> '{}'
            AND v_columns = ARRAY(
                SELECT format('%s %s', p.proargnames[a.n], format_type(a.type_id, NULL))
                FROM unnest(p.proallargtypes) WITH ORDINALITY AS a (type_id, n)
                WHERE p.proargmodes[a.n] IN ('o', 't')
                ORDER BY a.n
            )
        ) AS is_answer,
        format('%I.%I', n.nspname, p.proname) = new.routine AND n.nspname = new.room AS is_of_room,
        p.proowner = c.relowner AS is_ours
    INTO v_routine
    FROM pg_proc AS p
    INNER JOIN pg_namespace AS n ON p.pronamespace = n.oid
    INNER JOIN pg_class AS c ON c.oid = tg_relid
    WHERE p.oid = to_regprocedure(format('%s(%s)', new.routine, v_hook.arguments));
    IF (
        v_routine.is_kind AND v_routine.is_answer AND v_routine.is_of_room AND v_routine.is_ours
    ) IS NOT TRUE THEN
        v_expected := format(
            'a %s of the schema %s and of the owner of OMD that takes (%s)%s',
            CASE WHEN v_hook.answer IS NULL THEN 'procedure' ELSE 'function' END,
            new.room, v_hook.arguments, ' and returns ' || v_hook.answer
        );
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', format('routine of the hook %s', new.hook),
                'value', new.routine,
                'expected', v_expected
            )
        );
    END IF;
    RETURN new;
END
$check_hook$;

COMMENT ON FUNCTION omd._check_hook IS
'Refuses a row of omd.room_hook whose routine is not there, is of another room or owner, or takes '
'or returns something else than omd.hook says. Errors: OM013. Locks: none.';
