-- What a rollback refuses, a recall refuses as well: rows of others that a foreign key would take
-- along, and rows that are still there afterwards.

CREATE OR REPLACE FUNCTION omd.take_back_rows(
    p_instance_array bigint[],
    p_recall_instance_id bigint
)
RETURNS TABLE (
    module_instance_id bigint,
    table_code text,
    rows_gone bigint,
    rows_returned bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $take_back_rows$
DECLARE
    v_part record;
    v_statement text;
    v_touched bigint;
    v_left bigint;
    v_counts jsonb;
    v_last text;
BEGIN
    FOR v_part IN
        SELECT p.* FROM omd._recall_parts(p_instance_array) AS p ORDER BY p.place
    LOOP
        v_counts := '{}';
        IF v_part.way <> 'PENDING' THEN
            IF NOT v_part.is_plain THEN
                PERFORM omd._refuse_losses(
                    p_recall_instance_id, v_part.module_id, v_part.instance_array
                );
            END IF;
            IF v_part.way = 'DELETE' AND v_part.is_plain THEN
                EXECUTE format(
                    'WITH gone AS (%s RETURNING %s AS id), n AS (SELECT id, count(*) AS n FROM gone'
                    ' GROUP BY id) SELECT coalesce(jsonb_object_agg(i.id, ARRAY[coalesce(n.n, 0),'
                    ' 0]), ''{}'') FROM unnest($1) AS i (id) LEFT JOIN n USING (id)',
                    v_part.statements[1],
                    v_part.stamp
                )
                INTO v_counts
                USING v_part.instance_array;
            ELSE
                IF v_part.stamp IS NOT NULL AND NOT v_part.keeps_rows THEN
                    SELECT
                        jsonb_object_agg(
                            c.module_instance_id,
                            ARRAY[
                                c.rows_go,
                                CASE WHEN v_part.way <> 'STATEMENTS' THEN c.rows_back END
                            ]
                        )
                    INTO v_counts
                    FROM omd.recall_counts(
                        v_part.table_name, v_part.stamp, v_part.update_stamp, v_part.instance_array
                    ) AS c;
                END IF;
                FOREACH v_statement IN ARRAY v_part.statements LOOP
                    EXECUTE v_statement;
                    GET DIAGNOSTICS v_touched = ROW_COUNT;
                END LOOP;
                IF v_part.way = 'REPAIR' THEN
                    -- What bore no stamp and was set right is counted for the newest run.
                    v_last := v_part.instance_array[cardinality(v_part.instance_array)];
                    v_counts := jsonb_set(
                        v_counts,
                        ARRAY[v_last, '1'],
                        to_jsonb(
                            (v_counts -> v_last ->> 1)::bigint + v_touched
                            - (SELECT sum((e.value ->> 1)::bigint) FROM jsonb_each(v_counts) AS e)
                        )
                    );
                END IF;
                IF v_part.stamp IS NOT NULL AND NOT v_part.keeps_rows THEN
                    EXECUTE format(
                        'SELECT count(*) FROM %s WHERE %s = ANY ($1)',
                        v_part.table_name,
                        v_part.stamp
                    )
                    INTO v_left
                    USING v_part.instance_array;
                    IF v_left > 0 THEN
                        PERFORM omd._refuse_left_rows(
                            v_part.module_code, v_part.table_code, v_part.instance_array, v_left
                        );
                    END IF;
                END IF;
            END IF;
        END IF;
        PERFORM omd._end_take_back(v_part.instance_array, p_recall_instance_id);
        table_code := v_part.table_code;
        FOR module_instance_id IN SELECT unnest(v_part.instance_array) LOOP
            rows_gone := (v_counts -> module_instance_id::text ->> 0)::bigint;
            rows_returned := (v_counts -> module_instance_id::text ->> 1)::bigint;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END
$take_back_rows$;

COMMENT ON FUNCTION omd.take_back_rows IS
'For rooms: Takes the runs p_instance_array back, for the run p_recall_instance_id of a recall, '
'with the rights of the caller: their rows go by the rollback of their own Modules, their load '
'windows are withdrawn, and they are marked as undone. Rows of a target outside of this database '
'are left to the caller. Returns per run the rows that went and came back (NULL: only a template '
'knows). Errors: OM101: the run of the recall has not taken these on, OM112. Locks: the target '
'rows; the instances.';
GRANT EXECUTE ON FUNCTION omd.take_back_rows TO omd_admin;
