-- Open and closed rows are in partitions of their own, so that the work of a delivery does not grow
-- with history. Their names begin with _, which no code does. A type that is wider for values of
-- another width changes the hash, so the hashes go; of texts it does not.

CREATE OR REPLACE PROCEDURE omd_delivery._make_tables(
    p_entity_id integer
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_tables$
DECLARE
    v_entity record;
    v_lvl text;
    v_delta text;
    v_table text;
    v_statement text;
BEGIN
    SELECT
        i.interface_id,
        i.interface_code,
        i.lvl_schema,
        e.entity_code,
        format('%I.%I', i.lvl_schema, e.entity_code) AS lvl,
        format('%I.%I', i.work_schema, 'delta_' || e.entity_code) AS delta,
        string_agg(
            format(
                '%I %s%s%s',
                a.attribute_code,
                a.data_type,
                CASE
                    WHEN omd_delivery._type_kind(a.data_type) = 'text' THEN ' COLLATE "C"' ELSE ''
                END,
                CASE WHEN a.key_position IS NOT NULL THEN ' NOT NULL' ELSE '' END
            ),
            ', ' ORDER BY a.key_position, a.ordinal
        ) AS columns
    INTO v_entity
    FROM omd_delivery.entity AS e
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    INNER JOIN omd_delivery.attribute AS a USING (entity_id)
    WHERE e.entity_id = p_entity_id
    GROUP BY i.interface_id, i.interface_code, i.lvl_schema, i.work_schema, e.entity_code;
    v_lvl := v_entity.lvl;
    v_delta := v_entity.delta;

    IF to_regclass(v_lvl) IS NULL THEN
        EXECUTE format(
            $sql$
            CREATE TABLE %1$s (
                %4$s,
                acm_start_dt timestamptz NOT NULL,
                acm_end_dt timestamptz NOT NULL,
                acm_record_ind text COLLATE "C" NOT NULL
                    CONSTRAINT ck_acm_record_ind CHECK (acm_record_ind IN ('N', 'A', 'R')),
                acm_audit_id bigint NOT NULL,
                acm_hash_a bigint,
                acm_hash_b bigint
            ) PARTITION BY LIST (acm_end_dt);
            CREATE TABLE %2$s PARTITION OF %1$s FOR VALUES IN (%5$L);
            CREATE TABLE %3$s PARTITION OF %1$s DEFAULT;
            ALTER TABLE ONLY %1$s REPLICA IDENTITY FULL;
            ALTER TABLE %2$s REPLICA IDENTITY FULL;
            ALTER TABLE %3$s REPLICA IDENTITY FULL;
            COMMENT ON TABLE %1$s IS %6$L;
            COMMENT ON TABLE %2$s IS 'The open rows.';
            COMMENT ON TABLE %3$s IS 'The closed rows.';
            GRANT SELECT ON %1$s, %2$s, %3$s TO omd_data_reader
            $sql$,
            v_lvl,
            format('%I.%I', v_entity.lvl_schema, '_open_' || v_entity.entity_code),
            format('%I.%I', v_entity.lvl_schema, '_closed_' || v_entity.entity_code),
            v_entity.columns,
            omd_delivery._open_end(),
            format(
                'The entity %s of the interface %s as it was accepted: a row is current when it is '
                'open and not R.', v_entity.entity_code, v_entity.interface_code
            )
        );
    END IF;
    IF to_regclass(v_delta) IS NULL THEN
        EXECUTE format(
            $sql$
            CREATE TABLE %1$s (
                delivery_id bigint NOT NULL,
                acm_record_ind text COLLATE "C" NOT NULL
                    CONSTRAINT ck_acm_record_ind CHECK (acm_record_ind IN ('N', 'A', 'R')),
                acm_audit_id bigint NOT NULL,
                %2$s,
                acm_hash_a bigint,
                acm_hash_b bigint
            );
            ALTER TABLE %1$s REPLICA IDENTITY FULL;
            COMMENT ON TABLE %1$s IS %3$L;
            GRANT SELECT ON %1$s TO omd_data_reader;
            GRANT INSERT ON %1$s TO omd_runner
            $sql$,
            v_delta,
            v_entity.columns,
            format(
                'What each delivery changes in the entity %s of the interface %s.',
                v_entity.entity_code, v_entity.interface_code
            )
        );
        EXECUTE format(
            'GRANT USAGE ON SCHEMA %I TO omd_runner',
            (SELECT c.relnamespace::regnamespace::text
            FROM pg_class AS c WHERE c.oid = to_regclass(v_delta))
        );
        CALL omd_delivery._guard_table(v_delta, p_entity_id, NULL);
    END IF;

    FOREACH v_table IN ARRAY ARRAY[v_lvl, v_delta] LOOP
        IF omd_delivery._wants_lines(v_entity.interface_id)
            AND NOT omd_delivery._has_lines(v_table)
        THEN
            EXECUTE format(
                'ALTER TABLE %s ADD COLUMN acm_source_file integer,'
                ' ADD COLUMN acm_source_line bigint', v_table
            );
        END IF;
        FOR v_statement IN
            SELECT s.statement
            FROM omd_delivery.attribute AS a
            LEFT JOIN pg_attribute AS c
                ON c.attrelid = to_regclass(v_table)
                AND a.attribute_code = c.attname
                AND c.attnum > 0
                AND NOT c.attisdropped
            CROSS JOIN LATERAL (
                SELECT
                    a.data_type || CASE
                        WHEN omd_delivery._type_kind(a.data_type) = 'text' THEN ' COLLATE "C"'
                        ELSE ''
                    END AS type,
                    format_type(c.atttypid, c.atttypmod) AS present
            ) AS t
            CROSS JOIN LATERAL (
                SELECT
                    1 AS place,
                    format('ALTER TABLE %s ADD COLUMN %I %s', v_table, a.attribute_code, t.type)
                    AS statement
                WHERE c.attname IS NULL
                UNION ALL
                SELECT
                    2 AS place,
                    format(
                        'ALTER TABLE %s ALTER COLUMN %I TYPE %s USING %s', v_table,
                        a.attribute_code, t.type,
                        CASE
                            WHEN omd_delivery._type_widens(t.present, a.data_type)
                                THEN quote_ident(a.attribute_code)
                            ELSE format('NULL::%s', a.data_type)
                        END
                    ) AS statement
                WHERE t.present <> a.data_type
                UNION ALL
                SELECT
                    3 AS place,
                    format(
                        'ALTER TABLE %s ALTER COLUMN %I %s NOT NULL', v_table, a.attribute_code,
                        CASE WHEN a.key_position IS NULL THEN 'DROP' ELSE 'SET' END
                    ) AS statement
                WHERE coalesce(c.attnotnull, FALSE) <> (a.key_position IS NOT NULL)
                UNION ALL
                SELECT
                    4 AS place,
                    format(
                        'UPDATE %s SET acm_hash_a = NULL, acm_hash_b = NULL'
                        ' WHERE acm_end_dt = %L AND (acm_hash_a IS NOT NULL OR acm_hash_b IS NOT NULL)',
                        v_table, omd_delivery._open_end()
                    ) AS statement
                WHERE v_table = v_lvl
                    AND t.present <> a.data_type
                    AND omd_delivery._type_kind(a.data_type) <> 'text'
            ) AS s
            WHERE a.entity_id = p_entity_id
            ORDER BY a.ordinal, s.place
        LOOP
            EXECUTE v_statement;
        END LOOP;
    END LOOP;
END
$make_tables$;

COMMENT ON PROCEDURE omd_delivery._make_tables IS
'Brings the tables of the entity p_entity_id in the Logical Validation Layer and among the work '
'tables to the registry. Locks: those that change.';
