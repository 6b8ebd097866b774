-- Each run is found once, by the shortest way: level by level, and a level goes on from what is new
-- in the one before.

CREATE OR REPLACE FUNCTION omd_provenance.readers_of(
    p_module_instance_id bigint,
    p_all boolean DEFAULT FALSE
)
RETURNS TABLE (
    distance integer,
    module_instance_id bigint,
    module_code text,
    module_kind_code text,
    table_code text,
    because_of bigint,
    is_exact boolean,
    stands boolean
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $readers_of$
DECLARE
    v_seen bigint[] := ARRAY[p_module_instance_id];
    v_level bigint[] := v_seen;
    v_distance integer := 0;
    v_found record;
BEGIN
    PERFORM omd_provenance._require_run(p_module_instance_id);
    WHILE v_level <> '{}' LOOP
        v_distance := v_distance + 1;
        SELECT coalesce(array_agg(f.id ORDER BY f.id), '{}') AS ids,
            coalesce(array_agg(f.source_id ORDER BY f.id), '{}') AS sources,
            coalesce(array_agg(f.table_code ORDER BY f.id), '{}') AS tables,
            coalesce(array_agg(f.is_exact ORDER BY f.id), '{}') AS exact,
            coalesce(array_agg(f.stands ORDER BY f.id), '{}') AS standing
        INTO v_found
        FROM (
            SELECT DISTINCT ON (r.module_instance_id)
                r.module_instance_id AS id,
                r.source_instance_id AS source_id,
                r.table_code,
                r.is_exact,
                r.stands
            FROM omd_provenance.direct_readers(v_level, p_all) AS r
            LEFT JOIN unnest(v_seen) AS s (id) ON r.module_instance_id = s.id
            WHERE s.id IS NULL
            ORDER BY r.module_instance_id, r.is_exact DESC, r.source_instance_id, r.table_code
        ) AS f;
        RETURN QUERY
        SELECT v_distance, f.id, m.module_code, m.module_kind_code, f.table_code, f.source_id,
            f.is_exact, f.stands
        FROM unnest(
            v_found.ids, v_found.sources, v_found.tables, v_found.exact, v_found.standing
        ) AS f (id, source_id, table_code, is_exact, stands)
        INNER JOIN omd.module_instance AS mi ON f.id = mi.module_instance_id
        INNER JOIN omd.module AS m ON mi.module_id = m.module_id
        ORDER BY f.id;
        v_level := v_found.ids;
        v_seen := v_seen || v_level;
    END LOOP;
END
$readers_of$;

COMMENT ON FUNCTION omd_provenance.readers_of IS
'Returns the runs that have read, or may have read, rows of the run p_module_instance_id, and '
'those that have read rows of these, and so on; each once, by the shortest way. distance: 1 is '
'directly; table_code: through which table; because_of: whose rows it has read; is_exact: the '
'ledger knows it, else it may have; stands: it succeeded, is not undone and not replaced. p_all: '
'also what does not stand: runs undone, at work or failed, and reloads that a later one replaced. '
'Errors: OM004: there is no such run; OM005: p_module_instance_id is NULL. Locks: none. See '
'docs/explanation/provenance.md. Call again when the answer was lost.';
REVOKE ALL ON FUNCTION omd_provenance.readers_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_provenance.readers_of TO omd_reader;
