-- Rows are deleted with the rights of the caller. What it can't see it must not delete.

CREATE OR REPLACE FUNCTION omd._unseen_reference(
    p_table_name text,
    p_constraint_name text,
    p_privileges text,
    p_problem text
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $unseen_reference$
DECLARE
    v_schema text := quote_ident((parse_ident(p_table_name))[1]);
BEGIN
    RETURN jsonb_build_object(
        'table_name', p_table_name,
        'problem', format(
            'the role %I may not see what the foreign key %s would delete or change in %s (%s)',
            current_user,
            coalesce(p_constraint_name, 'to its rows'),
            p_table_name,
            p_problem
        ),
        'way_out', concat_ws(
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
$unseen_reference$;

COMMENT ON FUNCTION omd._unseen_reference IS
'Returns the loss, as find_loss does, when the caller lacks p_privileges on the table '
'p_table_name, as p_problem tells, so that nobody knows what the foreign key p_constraint_name '
'would do; the way out is the GRANT. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._unseen_reference TO omd_runner, omd_admin;
