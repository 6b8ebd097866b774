-- Each run is found once, by the shortest way: level by level, and a level goes on from what is new
-- in the one before. Readers and sources are the same walk from its two ends.

CREATE OR REPLACE FUNCTION omd_provenance._walk(
    p_module_instance_id bigint,
    p_is_up boolean,
    p_all boolean,
    p_depth integer,
    p_most integer
)
RETURNS TABLE (
    distance integer,
    module_instance_id bigint,
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
AS $walk$
DECLARE
    v_seen bigint[] := ARRAY[p_module_instance_id];
    v_level bigint[] := v_seen;
    v_distance integer := 0;
    v_next record;
BEGIN
    WHILE v_level <> '{}'
        AND v_distance < coalesce(p_depth, v_distance + 1)
        AND cardinality(v_seen) <= coalesce(p_most, cardinality(v_seen))
    LOOP
        v_distance := v_distance + 1;
        SELECT coalesce(array_agg(f.id ORDER BY f.id), '{}') AS ids,
            coalesce(array_agg(f.because_of ORDER BY f.id), '{}') AS causes,
            coalesce(array_agg(f.table_code ORDER BY f.id), '{}') AS tables,
            coalesce(array_agg(f.is_exact ORDER BY f.id), '{}') AS exact,
            coalesce(array_agg(f.stands ORDER BY f.id), '{}') AS standing
        INTO v_next
        FROM (
            SELECT DISTINCT ON (r.module_instance_id)
                r.module_instance_id AS id,
                r.because_of,
                r.table_code,
                r.is_exact,
                r.stands
            FROM (
                SELECT d.module_instance_id, d.source_instance_id AS because_of, d.table_code,
                    d.is_exact, d.stands
                FROM omd_provenance.direct_readers(v_level, p_all) AS d
                WHERE NOT p_is_up
                UNION ALL
                SELECT d.module_instance_id, d.reader_instance_id, d.table_code, d.is_exact,
                    d.stands
                FROM omd_provenance.direct_sources(v_level, p_all) AS d
                WHERE p_is_up
            ) AS r
            LEFT JOIN unnest(v_seen) AS s (id) ON r.module_instance_id = s.id
            WHERE s.id IS NULL
            ORDER BY r.module_instance_id, r.is_exact DESC, r.because_of, r.table_code
        ) AS f;
        RETURN QUERY
        SELECT v_distance, f.*
        FROM unnest(
            v_next.ids, v_next.tables, v_next.causes, v_next.exact, v_next.standing
        ) AS f (id, table_code, because_of, is_exact, stands)
        ORDER BY f.id;
        v_level := v_next.ids;
        v_seen := v_seen || v_level;
    END LOOP;
END
$walk$;

COMMENT ON FUNCTION omd_provenance._walk IS
'Returns the runs that have read the run p_module_instance_id, and those that have read these, and '
'so on, or with p_is_up those that it has read, at most p_depth steps far (NULL: all the way), and '
'no further once more than p_most runs are there (NULL: however many). p_all: also those that do '
'not stand. Locks: none but those of reading.';
GRANT EXECUTE ON FUNCTION omd_provenance._walk TO omd_reader, omd_data_reader;
