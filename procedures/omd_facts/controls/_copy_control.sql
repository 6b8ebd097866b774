-- Whoever owns a function may change it between a look at it and its call, and it is called where
-- the owner of OMD writes. So OMD calls a copy, which belongs to a role without any right: nobody
-- else can change it, and it can do no more than anybody. The text is not parsed here.

CREATE OR REPLACE PROCEDURE omd_facts._copy_control(
    p_entity_id integer,
    p_control_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET check_function_bodies = off
AS $copy_control$
DECLARE
    v_name CONSTANT text := omd_facts._control_copy(p_entity_id, p_control_code);
    v_schema CONSTANT text := quote_ident((parse_ident(v_name))[1]);
    v_text text;
BEGIN
    SELECT omd_facts._control_text(c.function_name) INTO v_text
    FROM omd_facts.control AS c
    WHERE c.entity_id = p_entity_id AND c.control_code = p_control_code
    FOR UPDATE;
    -- IF EXISTS would tell who registers a control that there is no copy yet.
    IF to_regprocedure(format('%s(text, jsonb, jsonb)', v_name)) IS NOT NULL THEN
        EXECUTE format('DROP FUNCTION %s(text, jsonb, jsonb)', v_name);
    END IF;
    IF v_text IS NULL THEN
        RETURN;
    END IF;
    EXECUTE format(
        'CREATE FUNCTION %1$s%2$s; REVOKE ALL ON FUNCTION %1$s FROM PUBLIC;'
        ' GRANT CREATE, USAGE ON SCHEMA %3$s TO omd_guest;'
        ' ALTER FUNCTION %1$s OWNER TO omd_guest;'
        ' REVOKE CREATE, USAGE ON SCHEMA %3$s FROM omd_guest',
        v_name, v_text, v_schema
    );
END
$copy_control$;

COMMENT ON PROCEDURE omd_facts._copy_control IS
'Makes the copy of the function of the control p_control_code of the entity p_entity_id that OMD '
'calls, anew. It makes none of a function that can''t be copied. Locks: the control, the copy.';
