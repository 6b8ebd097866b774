-- What can't be taken back stops everything; what has consequences outside is done only for who has
-- named it.

CREATE OR REPLACE FUNCTION omd_provenance._require_consent(
    p_recall_id bigint,
    p_items jsonb,
    p_accept text[]
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_consent$
DECLARE
    v_blocked jsonb;
    v_asked jsonb;
BEGIN
    SELECT jsonb_agg(
        jsonb_build_object(
            'module_instance_id', i.module_instance_id, 'module_code', i.module_code,
            'table_code', i.table_code, 'problem', i.problem
        )
        ORDER BY i.position
    )
    INTO v_blocked
    FROM jsonb_populate_recordset(NULL::omd_provenance.recall_item, p_items) AS i
    WHERE i.action = 'BLOCKED';
    IF v_blocked IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM191',
            jsonb_build_object(
                'recall_id', p_recall_id,
                'problem', v_blocked -> 0 ->> 'problem',
                'items', v_blocked
            )
        );
    END IF;
    SELECT jsonb_agg(
        jsonb_build_object(
            'action', i.action, 'module_instance_id', i.module_instance_id,
            'delivery_id', i.delivery_id, 'module_code', i.module_code,
            'table_code', i.table_code
        )
        ORDER BY i.position
    )
    INTO v_asked
    FROM jsonb_populate_recordset(NULL::omd_provenance.recall_item, p_items) AS i
    WHERE i.action IN ('BY_HAND', 'GIVE_UP', 'WITHDRAW', 'PENDING', 'UNKNOWN')
        AND NOT i.action = ANY(p_accept);
    IF v_asked IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM192',
            jsonb_build_object(
                'recall_id', p_recall_id,
                'actions', (
                    SELECT string_agg(DISTINCT a ->> 'action', ', ')
                    FROM jsonb_array_elements(v_asked) AS a
                ),
                'accept', (
                    SELECT format('%L', array_agg(DISTINCT u.action))
                    FROM (
                        SELECT a ->> 'action' AS action FROM jsonb_array_elements(v_asked) AS a
                        UNION
                        SELECT unnest(p_accept)
                    ) AS u
                ),
                'items', v_asked
            )
        );
    END IF;
END
$require_consent$;

COMMENT ON FUNCTION omd_provenance._require_consent IS
'Refuses the plan p_items, as _plan has it, of the recall p_recall_id, when something is in the '
'way, or when p_accept does not name an action that needs consent. Errors: OM191, OM192. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_provenance._require_consent TO omd_admin;
