-- A layer is what the runs of the layer before take with them, by having been read or by the order
-- of their own Module, so each run is found by the shortest way. Whoever reads comes before what it
-- has read: a Module stands one level above the highest that its runs have read. Bounds that name
-- too many may make a circle, in which no order is better than another. It runs with the rights of
-- the caller, since the ledger finds positions in tables of users.

CREATE OR REPLACE FUNCTION omd_provenance._reach(
    p_targets bigint[],
    p_awaits_correction boolean,
    p_known jsonb DEFAULT NULL
)
RETURNS TABLE (
    place bigint,
    level integer,
    room text,
    module_instance_id bigint,
    module_code text,
    module_kind_code text,
    distance integer,
    because_of bigint,
    relation text,
    is_exact boolean,
    sources bigint[],
    row_counts jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $reach$
DECLARE
    v_ids bigint[] := p_targets;
    v_distances integer[] := array_fill(0, ARRAY[cardinality(p_targets)]);
    v_because bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(p_targets)]);
    v_relations text[] := array_fill('TARGET'::text, ARRAY[cardinality(p_targets)]);
    v_exact boolean[] := array_fill(TRUE, ARRAY[cardinality(p_targets)]);
    v_frontier bigint[] := p_targets;
    v_distance integer := 0;
    -- Who has read whom, or must go before whom.
    v_sources bigint[] := '{}'::bigint[];
    v_readers bigint[] := '{}'::bigint[];
    -- Loads of deliveries that go for good are not made again either.
    v_for_good CONSTANT bigint[] := CASE
        WHEN p_awaits_correction THEN '{}' ELSE omd_provenance._loads_of(p_targets)
    END;
    v_positions jsonb;
    v_row_counts jsonb := '{}'::jsonb;
    v_new record;
    v_again bigint[];
    v_modules integer[];
    v_levels integer[];
    v_next integer[];
BEGIN
    WHILE cardinality(v_frontier) > 0 LOOP
        v_distance := v_distance + 1;
        v_again := ARRAY(
            SELECT i.id FROM unnest(v_ids, v_relations) AS i (id, relation)
            WHERE (i.relation <> 'TARGET' OR p_awaits_correction)
                AND NOT i.id = ANY(v_for_good)
        );
        v_positions := omd_provenance._positions_of_runs(v_frontier, p_known);
        v_row_counts := v_row_counts || (
            SELECT coalesce(jsonb_object_agg(p.run, p.row_counts), '{}')
            FROM (
                SELECT p.key AS run, jsonb_object_agg(e ->> 'relation', e -> 'stamp_count')
                    AS row_counts
                FROM jsonb_each(v_positions) AS p
                CROSS JOIN LATERAL jsonb_array_elements(p.value) AS e
                WHERE e ->> 'stamp_count' IS NOT NULL
                GROUP BY 1
            ) AS p
        );
        WITH reader AS MATERIALIZED (
            SELECT r.* FROM omd_provenance.direct_readers(v_frontier, TRUE, v_positions) AS r
        ),

        outside AS MATERIALIZED (
            SELECT
                omd.runs_outside(
                    array_agg(r.module_instance_id) FILTER (WHERE r.execution_status_code = 'E')
                ) AS ids
            FROM reader AS r
        )

        SELECT
            array_agg(r.source_instance_id) AS sources,
            array_agg(r.module_instance_id) AS readers,
            array_agg(r.is_exact) AS exact
        INTO v_new
        FROM reader AS r
        CROSS JOIN outside AS o
        WHERE r.stands OR r.module_instance_id = ANY(o.ids);
        v_sources := v_sources || v_new.sources;
        v_readers := v_readers || v_new.readers;
        SELECT
            array_agg(n.id ORDER BY n.id) AS ids,
            array_agg(n.because_of ORDER BY n.id) AS because,
            array_agg(n.relation ORDER BY n.id) AS relations,
            array_agg(n.is_exact ORDER BY n.id) AS exact
        INTO v_new
        FROM (
            SELECT DISTINCT ON (f.id)
                f.id,
                f.because_of,
                f.relation,
                bool_or(f.is_exact) OVER (PARTITION BY f.id, f.relation) AS is_exact
            FROM (
                SELECT r.id, r.source AS because_of, 'READS' AS relation, r.is_exact
                FROM unnest(v_new.sources, v_new.readers, v_new.exact) AS r (source, id, is_exact)
                UNION ALL
                SELECT w.module_instance_id, w.because_of, 'FOLLOWS', TRUE
                FROM omd_provenance._follows(v_ids, v_again) AS w
            ) AS f
            LEFT JOIN unnest(v_ids) AS i (id) ON f.id = i.id
            WHERE i.id IS NULL
            ORDER BY f.id, f.relation DESC, f.is_exact DESC, f.because_of
        ) AS n;
        v_frontier := coalesce(v_new.ids, '{}');
        v_ids := v_ids || v_frontier;
        v_distances := v_distances
            || array_fill(v_distance, ARRAY[cardinality(v_frontier)]);
        v_because := v_because || v_new.because;
        v_relations := v_relations || v_new.relations;
        v_exact := v_exact || v_new.exact;
    END LOOP;

    -- Runs of a Module go together, since one may have replaced rows of another.
    SELECT
        array_agg(DISTINCT m.module_id),
        array_fill(0, ARRAY[count(DISTINCT m.module_id)::integer])
    INTO v_modules, v_levels
    FROM omd.runs_of_modules(v_ids) AS m;
    SELECT array_agg(w.source) AS sources, array_agg(w.reader) AS readers
    INTO v_new
    FROM (
        SELECT DISTINCT s.module_id AS source, r.module_id AS reader
        FROM unnest(v_sources, v_readers) AS f (source, reader)
        INNER JOIN omd.runs_of_modules(v_ids) AS s ON f.source = s.module_instance_id
        INNER JOIN omd.runs_of_modules(v_ids) AS r ON f.reader = r.module_instance_id
        WHERE s.module_id <> r.module_id
    ) AS w;
    FOR v_round IN 1..cardinality(v_modules) LOOP
        SELECT array_agg(greatest(i.level, e.level) ORDER BY i.n)
        INTO v_next
        FROM unnest(v_modules, v_levels) WITH ORDINALITY AS i (id, level, n)
        LEFT JOIN (
            SELECT w.reader, max(s.level) + 1 AS level
            FROM unnest(v_new.sources, v_new.readers) AS w (source, reader)
            INNER JOIN unnest(v_modules, v_levels) AS s (id, level) ON w.source = s.id
            GROUP BY w.reader
        ) AS e ON i.id = e.reader;
        EXIT WHEN v_next = v_levels;
        v_levels := v_next;
    END LOOP;

    RETURN QUERY
    SELECT
        row_number() OVER (
            ORDER BY
                array_position('{DELIVERY,FACTS}', o.room) DESC NULLS FIRST,
                l.level DESC,
                o.room,
                i.id DESC
        ),
        l.level,
        o.room,
        i.id,
        m.module_code,
        m.module_kind_code,
        i.distance,
        i.because_of,
        i.relation,
        i.is_exact,
        coalesce(w.sources, '{}'),
        v_row_counts -> i.id::text
    FROM unnest(v_ids, v_distances, v_because, v_relations, v_exact)
        AS i (id, distance, because_of, relation, is_exact)
    INNER JOIN omd.runs_of_modules(v_ids) AS m ON i.id = m.module_instance_id
    INNER JOIN unnest(v_modules, v_levels) AS l (id, level) ON m.module_id = l.id
    LEFT JOIN (
        SELECT r.reader, array_agg(r.source) AS sources
        FROM unnest(v_sources, v_readers) AS r (source, reader)
        GROUP BY r.reader
    ) AS w ON i.id = w.reader
    CROSS JOIN LATERAL (
        SELECT omd_provenance._room_of(m.module_kind_code, m.module_code) AS room
    ) AS o
    ORDER BY 1;
END
$reach$;

COMMENT ON FUNCTION omd_provenance._reach IS
'Returns the runs that go with the runs p_targets, these too, in the order of undoing: readers '
'before what they read. A run of each goes with it that has read it (READS), or that stands on it '
'by the rules of its room (FOLLOWS); also runs on Spark that execute. p_awaits_correction: the '
'targets come again. Returns per run the room that takes it back, the level of its Module in that '
'order, its Module, how far it is from the targets and because of which run, whether the ledger '
'knows that exactly, which of the runs it has read directly, and row_counts: how many rows it has '
'by its stamp, {oid of the table: rows}, as far as that was seen. p_known: the same of runs, by '
'their ids, for omd_provenance._row_positions. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._reach TO omd_admin;
