-- The last look: whatever was done to them, do statistics show a text that no row has?

CREATE OR REPLACE FUNCTION omd_provenance._shown_statistics(
    p_table_code text,
    p_texts text[]
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $shown_statistics$
DECLARE
    v_hit record;
    v_is_there boolean;
BEGIN
    FOR v_hit IN
        SELECT c.oid::regclass AS name, s.attname, t.text
        FROM unnest(omd_provenance._family(omd.target_relation(p_table_code))) AS f (id)
        INNER JOIN pg_class AS c ON f.id = c.oid
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        INNER JOIN pg_stats AS s ON n.nspname = s.schemaname AND c.relname = s.tablename
        CROSS JOIN LATERAL concat_ws(
            ' ', s.most_common_vals, s.histogram_bounds, s.most_common_elems
        ) AS v (shown)
        INNER JOIN unnest(p_texts) AS t (text) ON strpos(v.shown, t.text) > 0
    LOOP
        EXECUTE format(
            'SELECT EXISTS (SELECT FROM %s AS t WHERE strpos(t.%I::text, $1) > 0)',
            v_hit.name, v_hit.attname
        ) INTO v_is_there USING v_hit.text;
        IF NOT v_is_there THEN
            RETURN TRUE;
        END IF;
    END LOOP;
    RETURN FALSE;
END
$shown_statistics$;

COMMENT ON FUNCTION omd_provenance._shown_statistics IS
'Returns whether the statistics of the table p_table_code, its partitions and parents, as far as '
'the session sees them, show one of p_texts that no row has. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._shown_statistics TO omd_admin;
