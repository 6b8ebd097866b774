-- Tables of users are for the caller's rights, those of the rooms are not; so this runs with the
-- caller's, and calls what has more.

CREATE OR REPLACE FUNCTION omd_provenance._erase(
    p_subject jsonb,
    p_with_references boolean,
    p_with_statistics boolean
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $erase$
DECLARE
    v_plan record;
    v_subject jsonb;
    v_table record;
    v_items jsonb;
    v_reached text[] := '{}'::text[];
BEGIN
    v_plan := omd_provenance._plan_erasure(p_subject, p_with_references);
    v_items := v_plan.p_items;
    FOR v_subject IN SELECT jsonb_array_elements(v_plan.p_subjects) LOOP
        v_items := v_items || omd_provenance._erase_rooms(v_subject);
        FOR v_table IN SELECT t.* FROM omd_provenance._tables_of(v_subject) AS t LOOP
            v_reached := v_reached || v_table.table_code;
            v_items := v_items || omd_provenance._erase_table(
                v_table.table_code, v_table.columns, v_table.action, v_subject, v_table.is_keyed
            );
        END LOOP;
        SELECT v_items || coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'layer', 'NOT_REACHED', 'table_code', n.name, 'outcome', 'NOT_REACHED',
                    'key_count', NULL, 'row_count', NULL,
                    'text', 'it was made of what was erased; register_subject reaches it'
                )
                ORDER BY n.name
            ),
            '[]'
        )
        INTO v_items
        FROM omd_provenance._not_reached(v_subject, v_reached) AS n (name);
    END LOOP;
    v_items := v_items || omd_provenance._erase_texts(v_plan.p_texts);
    IF p_with_statistics THEN
        v_items := v_items || omd_provenance._forget_statistics_of(v_items, v_plan.p_texts);
    END IF;
    v_items := v_items || (
        SELECT jsonb_agg(
            jsonb_build_object(
                'layer', 'NOT_REACHED', 'table_code', n.name, 'outcome', 'NOT_REACHED',
                'key_count', NULL, 'row_count', NULL, 'text', n.remark
            )
        )
        FROM (
            VALUES
            ('files of deliveries', 'who has sent them, and who keeps them, must delete them'),
            ('backups and WAL', 'they hold the rows until they are gone; pages until VACUUM')
        ) AS n (name, remark)
    );
    -- Several entities may have rows in one table.
    RETURN (
        SELECT jsonb_agg(to_jsonb(s) - 'n' ORDER BY s.n)
        FROM (
            SELECT
                i.item ->> 'layer' AS layer,
                i.item ->> 'table_code' AS table_code,
                i.item ->> 'outcome' AS outcome,
                max((i.item ->> 'key_count')::bigint) AS key_count,
                sum((i.item ->> 'row_count')::bigint)::bigint AS row_count,
                i.item ->> 'text' AS text,
                min(i.n) AS n
            FROM jsonb_array_elements(v_items) WITH ORDINALITY AS i (item, n)
            GROUP BY
                i.item ->> 'layer', i.item ->> 'table_code', i.item ->> 'outcome',
                i.item ->> 'text'
        ) AS s
    );
END
$erase$;

COMMENT ON FUNCTION omd_provenance._erase IS
'Erases p_subject, and what refers to it with p_with_references, and returns the items; '
'p_with_statistics: from the statistics too. Errors: OM159. Locks: those of erase.';
GRANT EXECUTE ON FUNCTION omd_provenance._erase TO omd_admin;
