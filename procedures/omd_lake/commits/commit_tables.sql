-- Metadata files, rows of the ledger and the end of the run are one transaction of the database.
-- Nothing here decides what the files mean: the driver has staged them on the metadata file that it
-- names, and the exchange succeeds only where that one is still current. Tables outside of this
-- catalogue have no row to lock, so their names are locked; lock_tables has done so before.

CREATE OR REPLACE PROCEDURE omd_lake.commit_tables(
    p_module_instance_id bigint,
    p_commits jsonb,
    INOUT p_commit_ids bigint[] DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $commit_tables$
DECLARE
    v_commit record;
    v_write record;
    v_time timestamptz;
    v_commit_id bigint;
    v_is_first boolean;
BEGIN
    PERFORM omd.require_read_committed();
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    PERFORM omd_lake._require_commits(p_commits, p_module_instance_id IS NOT NULL);
    p_commit_ids := '{}';
    IF p_module_instance_id IS NULL THEN
        PERFORM omd_lake._require_admin();
    ELSE
        CALL omd.fence(p_module_instance_id);
    END IF;

    PERFORM omd_lake._require_open(
        ARRAY(
            SELECT omd.spell_table(c.item ->> 'table')
            FROM jsonb_array_elements(p_commits) AS c (item)
        )
    );
    PERFORM omd_lake._lock_names(
        ARRAY(
            SELECT omd.spell_table(c.item ->> 'table')
            FROM jsonb_array_elements(p_commits) AS c (item)
            WHERE c.item ->> 'from' IS NULL
        )
    );
    IF p_module_instance_id IS NOT NULL THEN
        p_commit_ids := omd_lake._former_commits(p_module_instance_id, p_commits);
        IF p_commit_ids IS NOT NULL THEN
            RETURN;
        END IF;
        p_commit_ids := '{}';
    END IF;

    FOR v_commit IN
        SELECT
            omd.spell_table(c.item ->> 'table') AS table_code,
            c.item ->> 'from' AS old_location,
            c.item ->> 'to' AS new_location,
            n.p_namespace,
            n.p_name
        FROM jsonb_array_elements(p_commits) AS c (item)
        CROSS JOIN LATERAL omd_lake._catalogue_name(omd.spell_table(c.item ->> 'table')) AS n
        WHERE c.item ->> 'from' IS NOT NULL
        ORDER BY n.p_namespace COLLATE "C", n.p_name COLLATE "C"
    LOOP
        UPDATE omd_lake.iceberg_tables AS t SET
            metadata_location = v_commit.new_location,
            previous_metadata_location = v_commit.old_location
        WHERE t.catalog_name = 'omd'
            AND t.table_namespace = v_commit.p_namespace
            AND t.table_name = v_commit.p_name
            AND t.metadata_location = v_commit.old_location
            AND t.iceberg_type IS DISTINCT FROM 'VIEW';
        IF NOT FOUND THEN
            PERFORM omd.raise_error(
                'OM120',
                jsonb_build_object(
                    'table_code', v_commit.table_code,
                    'from', v_commit.old_location,
                    'metadata_location', (
                        SELECT t.metadata_location FROM omd_lake.iceberg_tables AS t
                        WHERE t.catalog_name = 'omd'
                            AND t.table_namespace = v_commit.p_namespace
                            AND t.table_name = v_commit.p_name
                    )
                )
            );
        END IF;
    END LOOP;

    SELECT omd_lake._commit_time(array_agg(omd.spell_table(c.item ->> 'table'))) INTO v_time
    FROM jsonb_array_elements(p_commits) AS c (item);
    FOR v_commit IN
        SELECT
            c.item,
            omd.spell_table(c.item ->> 'table') AS table_code,
            coalesce(c.item -> 'counts', '{}') AS counts
        FROM jsonb_array_elements(p_commits) WITH ORDINALITY AS c (item, n)
        ORDER BY c.n
    LOOP
        INSERT INTO omd_lake.table_commit (
            table_code, table_format_code, sequence_number, snapshot_id, commit_datetime,
            module_instance_id, operation, added_files, added_rows, removed_files, removed_rows,
            total_files, total_rows, metadata_location
        )
        VALUES (
            v_commit.table_code,
            v_commit.item ->> 'format',
            omd_lake._whole_number(v_commit.item -> 'sequence_number'),
            omd_lake._whole_number(v_commit.item -> 'snapshot_id'),
            v_time,
            p_module_instance_id,
            v_commit.item ->> 'operation',
            coalesce(omd_lake._whole_number(v_commit.counts -> 'added_files'), 0),
            coalesce(omd_lake._whole_number(v_commit.counts -> 'added_rows'), 0),
            coalesce(omd_lake._whole_number(v_commit.counts -> 'removed_files'), 0),
            coalesce(omd_lake._whole_number(v_commit.counts -> 'removed_rows'), 0),
            omd_lake._whole_number(v_commit.counts -> 'total_files'),
            omd_lake._whole_number(v_commit.counts -> 'total_rows'),
            v_commit.item ->> 'to'
        )
        RETURNING commit_id INTO v_commit_id;
        p_commit_ids := p_commit_ids || v_commit_id;

        FOR v_write IN
            SELECT w.write_number, w.row_count
            FROM omd_lake._writes_of(jsonb_build_array(v_commit.item)) AS w
        LOOP
            CALL omd.record_write(
                p_module_instance_id, v_write.write_number, 0, v_commit.table_code,
                v_write.row_count, v_is_first, v_write.row_count
            );
            IF NOT v_is_first THEN
                PERFORM omd.raise_error(
                    'OM022',
                    jsonb_build_object(
                        'table_code', v_commit.table_code,
                        'of_table', ' of ' || v_commit.table_code,
                        'problem', format(
                            'the ledger has its write %s already, without a commit',
                            v_write.write_number
                        )
                    )
                );
            END IF;
            INSERT INTO omd_lake.write_folder (
                module_instance_id, write_number, table_code, commit_id
            )
            VALUES (
                p_module_instance_id, v_write.write_number, v_commit.table_code, v_commit_id
            )
            ON CONFLICT (module_instance_id, write_number, table_code)
            DO UPDATE SET commit_id = excluded.commit_id;
        END LOOP;
    END LOOP;
    -- Last, in the order of their codes: another commit may move the same ones.
    FOR v_commit IN
        SELECT
            'lake.' || t.table_code AS source_code,
            t.table_code,
            t.commit_datetime,
            t.sequence_number
        FROM omd_lake.table_commit AS t
        WHERE t.commit_id = ANY(p_commit_ids)
        ORDER BY t.table_code COLLATE "C", t.commit_datetime, t.sequence_number
    LOOP
        IF omd.source_of(v_commit.table_code, 'LAKE') IS NULL THEN
            PERFORM omd.declare_source(
                v_commit.source_code, 'LAKE', ARRAY[v_commit.table_code]
            );
        END IF;
        PERFORM omd.move_source(
            v_commit.source_code, v_commit.commit_datetime, v_commit.sequence_number
        );
    END LOOP;
END
$commit_tables$;

COMMENT ON PROCEDURE omd_lake.commit_tables IS
'For the driver: Commits lake tables for a run, all or none, in the transaction of the caller. '
'p_module_instance_id: the run; NULL: no run, which only omd_admin may. p_commits: an array of '
'objects with table, format (ICEBERG or DELTA), from and to (the metadata file that was current, '
'and the new one: for an Iceberg table of this catalogue, which open_commit has opened in this '
'transaction; another table is only recorded, and may have to), sequence_number (for DELTA the '
'version), snapshot_id, operation (APPEND, OVERWRITE, HISTORY, UNDO, COMPACT, EXPIRE or SCHEMA), '
'writes (an array of objects with write_number and rows) and counts (an object of added_files, '
'added_rows, removed_files, removed_rows, total_files and total_rows). Returns p_commit_ids, in '
'their order. When the writes are committed already, it changes nothing and returns their commits. '
'Call module_success or commit_step after it in the same transaction, and confirm_rollback before '
'it. Errors: OM004, OM005, OM014, OM022: it is no such array, a table was not opened, or only some '
'writes are committed, OM101, OM102, OM107, OM110, OM120: from is not current any more. Locks: the '
'instance row FOR SHARE; the rows of the tables, or, outside of this catalogue, their names; last '
'their positions.';
GRANT EXECUTE ON PROCEDURE omd_lake.commit_tables TO omd_runner, omd_admin;
