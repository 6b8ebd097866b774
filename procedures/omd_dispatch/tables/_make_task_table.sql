-- The spare partition that the purge exchanges has the same columns, constraints and indexes as a
-- partition, so both are made from the partitioned table.

CREATE OR REPLACE PROCEDURE omd_dispatch._make_task_table(
    p_family omd_dispatch.task_conf_family_desc
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_task_table$
DECLARE
    v_table text := omd_dispatch._data_table(p_family.family_code);
    v_part text;
BEGIN
    EXECUTE format(
        $sql$
        CREATE TABLE %1$s (
            task_id bigint NOT NULL
                CONSTRAINT ck_task_data_task_id CHECK (task_id >= 0),
            partition_code integer NOT NULL,
            task_type text NOT NULL,
            lane text COLLATE "C" NOT NULL,
            priority smallint NOT NULL
                CONSTRAINT ck_task_data_priority CHECK (priority BETWEEN 0 AND 9),
            execution_time timestamptz NOT NULL,
            status text NOT NULL CONSTRAINT ck_task_data_status CHECK (
                status IN ('PENDING', 'CLAIMED', 'DONE', 'DEAD', 'CANCELLED')
            ),
            attempt integer NOT NULL,
            suspension_id bigint CONSTRAINT ck_task_data_suspension CHECK (
                suspension_id IS NULL OR status = 'PENDING'
            ),
            claimed_by text,
            claimed_at timestamptz,
            claim_token bigint,
            cancel_requested boolean NOT NULL DEFAULT FALSE,
            created_at timestamptz NOT NULL,
            pending_since timestamptz,
            finished_at timestamptz,
            outcome text CONSTRAINT ck_task_data_outcome CHECK (outcome IN ('S', 'F', 'A', 'C')),
            error text,
            batch_instance_id bigint,
            module_instance_id bigint,
            schedule_code text,
            key_hash bytea,
            payload jsonb,
            CONSTRAINT ck_task_data_claim CHECK (
                (status = 'CLAIMED') = (claimed_by IS NOT NULL)
                AND (status = 'CLAIMED') = (claimed_at IS NOT NULL)
                AND (status = 'CLAIMED') = (claim_token IS NOT NULL)
            ),
            CONSTRAINT %3$I PRIMARY KEY (task_id, partition_code)
        ) PARTITION BY LIST (partition_code);
        COMMENT ON TABLE %1$s IS %2$L;
        GRANT SELECT ON %1$s TO omd_reader;
        $sql$,
        v_table,
        format('The tasks of the family %s, by partitions of its ring.', p_family.family_code),
        'pk_task_data_' || lower(p_family.family_code)
    );
    CALL omd_dispatch._index_tasks(v_table);
    FOR v_part IN
        SELECT omd_dispatch._data_table(p_family.family_code, '_p' || n)
        FROM generate_series(0, p_family.partition_count - 1) AS n
    LOOP
        EXECUTE format(
            'CREATE TABLE %1$s PARTITION OF %2$s FOR VALUES IN (%3$s);'
            ' COMMENT ON TABLE %1$s IS %4$L; GRANT SELECT ON %1$s TO omd_reader',
            v_part, v_table, substring(v_part FROM '[0-9]+$'),
            format('A partition of the ring of the family %s.', p_family.family_code)
        );
    END LOOP;
    EXECUTE format(
        'CREATE TABLE %1$s (LIKE %2$s INCLUDING ALL); COMMENT ON TABLE %1$s IS %3$L;'
        ' GRANT SELECT ON %1$s TO omd_reader',
        omd_dispatch._data_table(p_family.family_code, '_swap'), v_table,
        format(
            'The spare partition of the family %s: a purge exchanges one for it.',
            p_family.family_code
        )
    );
    CALL omd_dispatch._name_indexes(v_table);
    CALL omd_dispatch._set_storage(v_table);
    CALL omd_dispatch._comment_task_tables(p_family.family_code);
END
$make_task_table$;

COMMENT ON PROCEDURE omd_dispatch._make_task_table IS
'Makes the table of tasks of the new family p_family, its partitions and its spare partition, '
'without criteria. Locks: the new tables.';
