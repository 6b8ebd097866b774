-- A rollback may find that rows of other runs refer to the rows that it deletes. A person must
-- decide whether to undo these runs too, so the error names them and the next command. Where the
-- table that refers is undone in the same rollback, the two refer to each other, and only a key
-- that is checked at the end lets both go.

CREATE OR REPLACE FUNCTION omd._refuse_rollback(
    p_module_instance_id bigint,
    p_table_code text,
    p_problem text,
    p_stamps text[],
    p_constraint_name text,
    p_way_out text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $refuse_rollback$
DECLARE
    v_instance record;
    v_relation oid := omd.target_relation(p_table_code);
    v_module_codes text[];
    v_known bigint[];
    v_circle text;
    -- The message is for everybody, and the error of a constraint goes on with values of a row.
    v_values text := substr(p_problem, length(split_part(p_problem, E'\n', 1)) + 2);
BEGIN
    SELECT m.module_code, m.table_code, mi.rollback_instance_array INTO v_instance
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m USING (module_id)
    WHERE mi.module_instance_id = p_module_instance_id;

    -- Rows of a partition are loaded through the whole table as well.
    v_module_codes := ARRAY(
        SELECT m.module_code FROM omd._sharing_modules(v_relation) AS m ORDER BY m.module_code
    );
    v_known := ARRAY(
        SELECT mi.module_instance_id
        FROM unnest(p_stamps) AS s (stamp)
        INNER JOIN omd.module_instance AS mi ON s.stamp = mi.module_instance_id::text
        WHERE mi.module_id IS NOT NULL
        ORDER BY mi.module_instance_id
        LIMIT 10
    );
    SELECT
        CASE
            WHEN k.confdeltype = 'a'
                THEN
                    format('ALTER TABLE %s ALTER CONSTRAINT %I DEFERRABLE;', p_table_code, k.conname)
            ELSE
                format(
                    'ALTER TABLE %1$s DROP CONSTRAINT %2$I, ADD CONSTRAINT %2$I %3$s DEFERRABLE;',
                    p_table_code,
                    k.conname,
                    replace(pg_get_constraintdef(k.oid), ' ON DELETE RESTRICT', '')
                )
        END
    INTO v_circle
    FROM pg_constraint AS k
    WHERE k.conrelid = v_relation
        AND k.conname::text = p_constraint_name
        AND k.contype = 'f'
        AND NOT k.condeferrable
        AND EXISTS (
            SELECT FROM omd._rollback_parts(p_module_instance_id) AS p
            INNER JOIN omd._sharing_modules(v_relation) AS m ON p.module_id = m.module_id
        );

    PERFORM omd.raise_error(
        'OM112',
        jsonb_build_object(
            'module_code', v_instance.module_code,
            'table_code', v_instance.table_code,
            'module_instance_ids', v_instance.rollback_instance_array,
            'referencing_table', p_table_code,
            'referencing_module_codes', v_module_codes,
            'referencing_instance_ids', coalesce(p_stamps, '{}'),
            'problem', concat_ws(
                '; ',
                split_part(p_problem, E'\n', 1),
                CASE
                    WHEN v_module_codes = '{}' THEN 'no Module loads ' || p_table_code
                    ELSE
                        p_table_code || ' is loaded by ' || array_to_string(v_module_codes, ', ')
                END
            ),
            'way_out', coalesce(
                p_way_out,
                concat(
                    'Rows that refer to each other go together once the foreign key is checked at '
                    'the end: ' || v_circle || ' Else roll',
                    CASE WHEN v_circle IS NULL THEN 'Roll' END,
                    ' back what refers to the rows too: ',
                    coalesce(
                        (
                            SELECT
                                string_agg(
                                    format(
                                        'CALL omd.set_next_run_indicator(''R'', '
                                        'p_module_instance_id => %s);',
                                        k.id
                                    ),
                                    ' ' ORDER BY k.id
                                )
                            FROM unnest(v_known) AS k (id)
                        ),
                        'CALL omd.set_next_run_indicator(''R'', p_module_instance_id => …);'
                    ),
                    ' or delete these rows by hand. If the rows to undo have to stay: CALL '
                    'omd.register_rollback(',
                    quote_literal(v_instance.module_code),
                    ', p_keeps_rows => TRUE);'
                )
            )
        )
        || CASE
            WHEN v_values = '' THEN '{}'
            ELSE jsonb_build_object('error_detail', v_values)
        END
    );
END
$refuse_rollback$;

COMMENT ON FUNCTION omd._refuse_rollback IS
'Raises OM112: the rollback of a Module Instance is refused because of the table p_table_code, as '
'p_problem tells: its first line in the message, the rest in the DETAIL. p_stamps: the runs whose '
'rows refer to its rows. p_constraint_name: the foreign key that refused it. p_way_out: the hint; '
'NULL: to undo what refers to the rows, and where tables refer to each other to have the key '
'checked at the end. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._refuse_rollback TO omd_runner, omd_admin;
