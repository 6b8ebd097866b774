-- The rollback has the rights of the caller. What it can't see it must not delete.

CREATE OR REPLACE FUNCTION omd._raise_unseen_reference(
    p_module_instance_id bigint,
    p_table_name text,
    p_constraint_name text,
    p_privileges text,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $raise_unseen_reference$
DECLARE
    v_schema text := quote_ident((parse_ident(p_table_name))[1]);
BEGIN
    PERFORM omd._refuse_rollback(
        p_module_instance_id,
        p_table_name,
        format(
            'the role %I may not see what the foreign key %s would delete or change in %s (%s)',
            current_user,
            coalesce(p_constraint_name, 'to its rows'),
            p_table_name,
            p_problem
        ),
        NULL,
        NULL,
        concat_ws(
            ' ',
            CASE
                WHEN NOT has_schema_privilege(to_regnamespace(v_schema), 'USAGE')
                    THEN format('GRANT USAGE ON SCHEMA %s TO %I;', v_schema, current_user)
            END,
            format('GRANT %s ON %s TO %I;', p_privileges, p_table_name, current_user),
            CASE
                WHEN p_problem ~ 'row-level security'
                    THEN format('ALTER ROLE %I BYPASSRLS;', current_user)
            END
        )
    );
END
$raise_unseen_reference$;

COMMENT ON FUNCTION omd._raise_unseen_reference IS
'Raises OM112: the caller lacks p_privileges on the table p_table_name, as p_problem tells, so a '
'rollback can''t see what the foreign key p_constraint_name would do; the hint has the GRANT. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd._raise_unseen_reference FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._raise_unseen_reference TO omd_runner;
