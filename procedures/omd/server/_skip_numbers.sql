-- A sequence goes on from where it stands, or from the highest value that is stored, where that is
-- more: logical replication copies rows and no sequences. It never goes on from the stored values
-- alone: what was purged, and what was given and lost, is not among them.
--
-- Bare sequences count too, since a claim token is a fence. Those of definitions are integers: they
-- go on by a million at most, and have room for two thousand changes of the server.

CREATE OR REPLACE FUNCTION omd._skip_numbers(
    p_count bigint,
    p_is_again boolean DEFAULT FALSE
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $skip_numbers$
DECLARE
    v_sequence record;
    v_place record;
    v_stored bigint;
    v_last bigint;
    v_highest bigint;
BEGIN
    FOR v_sequence IN
        SELECT
            c.oid,
            n.nspname,
            c.relname,
            CASE s.seqtypid WHEN 'bigint'::regtype THEN p_count ELSE least(p_count, 1000000) END
                AS skipped,
            s.seqmax
        FROM pg_class AS c
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        INNER JOIN pg_sequence AS s ON c.oid = s.seqrelid
        WHERE c.relowner = 'omd_owner'::regrole
            AND c.relpersistence = 'p'
            AND c.oid <> 'omd.settled_server'::regclass
        ORDER BY n.nspname, c.relname
    LOOP
        v_last := coalesce(pg_sequence_last_value(v_sequence.oid), 0);
        v_highest := CASE WHEN p_is_again THEN 0 ELSE v_last END;
        FOR v_place IN
            SELECT
                d.refobjid::regclass::text AS place,
                a.attname AS column_name,
                NULL AS row_condition
            FROM pg_depend AS d
            INNER JOIN pg_attribute AS a ON d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
            WHERE d.classid = 'pg_class'::regclass
                AND d.objid = v_sequence.oid
                AND d.refclassid = 'pg_class'::regclass
                AND d.deptype IN ('a', 'i')
            UNION ALL
            SELECT
                t.oid::regclass::text,
                b.column_name,
                b.row_condition
            FROM omd.sequence_bound AS b
            INNER JOIN pg_namespace AS n ON b.table_schema = n.nspname
            INNER JOIN pg_class AS t
                ON
                    n.oid = t.relnamespace
                    AND t.relname LIKE b.table_name
                    AND t.relkind IN ('r', 'p')
                    AND NOT t.relispartition
            WHERE b.sequence_schema = v_sequence.nspname
                AND b.sequence_name = v_sequence.relname
        LOOP
            EXECUTE format(
                'SELECT max(t.%1$I) FROM %2$s AS t WHERE %3$s',
                v_place.column_name,
                v_place.place,
                coalesce(v_place.row_condition, 'TRUE')
            ) INTO v_stored;
            v_highest := greatest(v_highest, v_stored);
        END LOOP;
        IF v_last < v_highest + v_sequence.skipped
            AND v_highest + v_sequence.skipped <= v_sequence.seqmax
        THEN
            PERFORM setval(v_sequence.oid, v_highest + v_sequence.skipped);
        END IF;
    END LOOP;
END
$skip_numbers$;

COMMENT ON FUNCTION omd._skip_numbers IS
'Sets each sequence of OMD to the highest value that was given, as far as is known, and p_count '
'more, an integer one at most a million more, and only while it has room. p_is_again: this was '
'done before; only a sequence that is less than p_count above the highest value that is stored is '
'set, to exactly that. Call it under the lock of the row of omd.installation. Locks: none.';
