-- Each room erases in its own tables.

CREATE OR REPLACE FUNCTION omd_provenance._erase_rooms(
    p_subject jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_rooms$
DECLARE
    v_keys CONSTANT jsonb := p_subject -> 'keys';
    v_items jsonb;
    v_holder record;
BEGIN
    PERFORM omd_delivery.note_erasure(
        p_subject ->> 'interface',
        ARRAY(
            SELECT t.entity
            FROM jsonb_to_recordset(p_subject -> 'targets') AS t (entity text)
        )
    );
    SELECT coalesce(
        jsonb_agg(
            jsonb_build_object(
                'layer', CASE
                    WHEN e.layer IN ('NOT_REACHED', 'TEXT') THEN e.layer
                    ELSE coalesce(p_subject ->> 'layer', e.layer)
                END,
                'table_code', e.table_code, 'outcome', e.outcome,
                'key_count', e.key_count, 'row_count', e.row_count, 'text', e.remark
            )
            ORDER BY e.n
        ),
        '[]'
    )
    INTO v_items
    FROM omd_delivery.erase_keys(p_subject) WITH ORDINALITY AS e (
        layer, table_code, outcome, key_count, row_count, remark, n
    );
    SELECT v_items || coalesce(
        jsonb_agg(
            jsonb_build_object(
                'layer', CASE
                    WHEN e.layer = 'NOT_REACHED' THEN e.layer
                    ELSE coalesce(p_subject ->> 'layer', e.layer)
                END,
                'table_code', e.table_code, 'outcome', e.outcome,
                'key_count', e.key_count, 'row_count', e.row_count, 'text', e.remark
            )
            ORDER BY e.n
        ),
        '[]'
    )
    INTO v_items
    FROM omd_facts.erase_keys(p_subject) WITH ORDINALITY AS e (
        layer, table_code, outcome, key_count, row_count, remark, n
    );
    SELECT v_items || coalesce(
        jsonb_agg(
            jsonb_build_object(
                'layer', 'DECISION', 'table_code', e.table_code, 'outcome', 'DELETED',
                'key_count', NULL, 'row_count', e.row_count, 'text', NULL
            )
            ORDER BY e.table_code
        ),
        '[]'
    )
    INTO v_items
    FROM (
        SELECT jsonb_agg(
            jsonb_build_object('relations', h.relations, 'columns', h.columns)
        ) AS holders
        FROM omd_provenance._holders(p_subject) AS h
        WHERE h.relations IS NOT NULL
    ) AS h
    CROSS JOIN LATERAL omd_decision.erase_records(h.holders, v_keys) AS e
    WHERE e.row_count > 0;
    FOR v_holder IN
        SELECT h.* FROM omd_provenance._holders(p_subject) AS h WHERE h.action IS NOT NULL
    LOOP
        IF v_holder.table_code LIKE 'omd\_dispatch.%' THEN
            SELECT v_items || coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'layer', 'TASK', 'table_code', v_holder.table_code, 'outcome', e.outcome,
                        'key_count', NULL, 'row_count', e.row_count, 'text', e.remark,
                        'tables', to_jsonb(e.tables)
                    )
                    ORDER BY e.outcome
                ),
                '[]'
            )
            INTO v_items
            FROM omd_dispatch.erase_tasks(
                substr(v_holder.table_code, 14), v_holder.columns, v_keys, v_holder.action = 'NULL'
            ) AS e;
        ELSIF v_holder.relations IS NOT NULL THEN
            SELECT v_items || jsonb_agg(
                jsonb_build_object(
                    'layer', 'TABLE', 'table_code', e.table_code,
                    'outcome', CASE v_holder.action WHEN 'NULL' THEN 'NULLED' ELSE 'DELETED' END,
                    'key_count', NULL, 'row_count', e.row_count,
                    'text', format('copies of rows of %s that were replaced', v_holder.table_code)
                )
            )
            INTO v_items
            FROM omd_lineage.erase_replaced(
                v_holder.table_code, v_holder.columns, v_keys, v_holder.action = 'NULL'
            ) AS e;
        END IF;
    END LOOP;
    RETURN v_items;
END
$erase_rooms$;

COMMENT ON FUNCTION omd_provenance._erase_rooms IS
'Erases p_subject from the tables of the rooms, and returns the items. Locks: the rows.';
GRANT EXECUTE ON FUNCTION omd_provenance._erase_rooms TO omd_admin;
