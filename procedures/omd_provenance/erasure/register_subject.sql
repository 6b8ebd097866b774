-- What can not be erased is found here, and not when somebody must be forgotten.

CREATE OR REPLACE PROCEDURE omd_provenance.register_subject(
    p_table_code text,
    p_interface_code text,
    p_entity_code text,
    p_columns jsonb,
    p_action text DEFAULT 'DELETE'
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_subject$
DECLARE
    v_key record;
    v_table_code text := omd.quote_table(p_table_code, 'POSTGRES');
    v_problem text;
BEGIN
    p_table_code := omd.require_argument('p_table_code', p_table_code);
    p_interface_code := omd.require_argument('p_interface_code', p_interface_code);
    p_entity_code := omd.require_argument('p_entity_code', p_entity_code);
    p_action := omd.require_argument('p_action', p_action);
    -- Codes of families are upper case, and need no quotes.
    IF p_table_code LIKE 'omd\_dispatch.%' THEN
        v_table_code := p_table_code;
    END IF;
    IF p_columns IS NULL THEN
        DELETE FROM omd_provenance.subject AS s
        WHERE s.table_code = v_table_code
            AND s.interface_code = p_interface_code
            AND s.entity_code = p_entity_code;
        RETURN;
    END IF;
    v_key := omd_delivery.subject_key(p_interface_code, p_entity_code, NULL);
    IF v_key.p_entity_id IS NULL THEN
        PERFORM omd.raise_error(
            'OM092',
            jsonb_build_object(
                'object', 'entity', 'key', left(p_entity_code, 60),
                'of', ' in the interface ' || left(p_interface_code, 60)
            )
        );
    END IF;
    v_problem := omd_provenance._subject_unfit(
        v_table_code, p_columns, p_action, v_key.p_key
    );
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM292',
            jsonb_build_object(
                'table_code', left(p_table_code, 130),
                'problem', v_problem,
                'way_out', format(
                    'Name the columns that hold %s: CALL omd_provenance.register_subject(…);',
                    array_to_string(v_key.p_key, ', ')
                )
            )
        );
    END IF;
    INSERT INTO omd_provenance.subject AS s (
        table_code, interface_code, entity_code, columns, action, registered_by
    )
    VALUES (
        v_table_code, p_interface_code, p_entity_code, p_columns, p_action, omd.editor()
    )
    ON CONFLICT (interface_code, entity_code, table_code) DO UPDATE SET
        columns = excluded.columns,
        action = excluded.action,
        registered_by = excluded.registered_by,
        registered_datetime = excluded.registered_datetime
    WHERE (s.columns, s.action) IS DISTINCT FROM (excluded.columns, excluded.action);
END
$register_subject$;

COMMENT ON PROCEDURE omd_provenance.register_subject IS
'Says that the table p_table_code holds keys of the entity p_entity_code of the interface '
'p_interface_code, so that erase reaches it: in p_columns, {column: attribute of the key}; each '
'attribute is in one column at least, and one of them suffices. p_table_code '
'omd_dispatch.<family>: the tasks of this family, by "payload.<path>" or a criterion; or an '
'Iceberg table of our catalogue, whose columns are looked at when it is rewritten. p_action: '
'DELETE: the rows go; NULL: these columns become NULL. p_columns NULL removes what was said. A '
'second call replaces it. Errors: OM005: an argument is NULL; OM092: there is no such entity; '
'OM292: the table or the columns are not there, are no table of a user, or can''t be erased so. '
'Locks: the row.';
GRANT EXECUTE ON PROCEDURE omd_provenance.register_subject TO omd_admin;
