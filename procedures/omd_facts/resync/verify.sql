-- Each rule is one query over a table of facts; a load makes all of them true by construction.

CREATE OR REPLACE FUNCTION omd_facts.verify(
    p_interface_code text
)
RETURNS TABLE (entity_code text, rule text, violations bigint)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $verify$
DECLARE
    v_interface omd_facts.interface := omd_facts._require_interface(p_interface_code);
    v_check record;
    v_statement text;
    v_count bigint;
BEGIN
    FOR v_check IN
        SELECT
            e.entity_code,
            r.rule,
            omd._render(
                r.query,
                omd_facts._context_pieces(c.context_id) || jsonb_build_object(
                    'anchor',
                    format('%I.%I', 'cfl_' || p_interface_code, e.anchor_table),
                    'open', quote_literal(omd_facts._open_end()) || '::timestamptz'
                )
            ) AS query
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.context AS c USING (entity_id)
        INNER JOIN (
            VALUES
            (
                'gap or overlap', FALSE,
                'SELECT count(*) FROM (SELECT o.acm_end_dt, lead(o.acm_start_dt) OVER ('
                'PARTITION BY o.acm_id{o_own} ORDER BY o.acm_start_dt) AS next FROM {context} AS o)'
                ' AS o WHERE o.acm_end_dt <> coalesce(o.next, {open})'
            ),
            (
                'interval without length', FALSE,
                'SELECT count(*) FROM {context} AS o WHERE o.acm_start_dt >= o.acm_end_dt'
            ),
            (
                'id without anchor', FALSE,
                'SELECT count(*) FROM {context} AS o WHERE NOT EXISTS ('
                'SELECT FROM {anchor} AS a WHERE a.acm_id = o.acm_id)'
            ),
            (
                'existence against properties', TRUE,
                'SELECT count(*) FROM {anchor} AS a LEFT JOIN {now} AS o ON a.acm_id = o.acm_id'
                ' WHERE (a.acm_exists_ind = 1) <> coalesce(o.acm_record_ind <> ''R'', FALSE)'
            )
        ) AS r (rule, is_about_existence, query)
            ON NOT r.is_about_existence OR c.context_code = 'properties'
        WHERE e.interface_id = v_interface.interface_id
        ORDER BY e.load_order, c.context_id, r.rule
    LOOP
        v_statement := v_check.query;
        EXECUTE v_statement INTO v_count;
        IF v_count > 0 THEN
            entity_code := v_check.entity_code;
            rule := v_check.rule;
            violations := v_count;
            RETURN NEXT;
        END IF;
    END LOOP;
END
$verify$;

COMMENT ON FUNCTION omd_facts.verify IS
'Returns each broken invariant of the facts of the interface p_interface_code (entity_code, '
'rule, violations); no row means that they are sound. Errors: OM005, OM013, OM031, OM251: it is '
'not deployed. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_facts.verify TO omd_admin, omd_runner;
