-- A driver whose answer was lost calls again with the same writes. A commit of the call that has no
-- write is found by its transaction, whose commits share their time.

CREATE OR REPLACE FUNCTION omd_lake._former_commits(
    p_module_instance_id bigint,
    p_commits jsonb
)
RETURNS bigint[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $former_commits$
DECLARE
    v_known record;
    v_other record;
BEGIN
    SELECT
        count(*) AS writes,
        count(f.commit_id) AS committed,
        max(c.commit_datetime) AS commit_datetime
    INTO v_known
    FROM omd_lake._writes_of(p_commits) AS w
    LEFT JOIN omd_lake.write_folder AS f
        ON f.module_instance_id = p_module_instance_id
            AND f.write_number = w.write_number
            AND f.table_code = w.table_code
    LEFT JOIN omd_lake.table_commit AS c ON f.commit_id = c.commit_id;
    IF v_known.committed = v_known.writes AND v_known.writes > 0 THEN
        RETURN (
            SELECT
                array_agg(
                    (
                        SELECT c.commit_id FROM omd_lake.table_commit AS c
                        WHERE c.module_instance_id = p_module_instance_id
                            AND c.table_code = omd.spell_table(i.item ->> 'table')
                            AND c.commit_datetime = v_known.commit_datetime
                    )
                    ORDER BY i.n
                )
            FROM jsonb_array_elements(p_commits) WITH ORDINALITY AS i (item, n)
        );
    END IF;

    SELECT
        w.table_code,
        format(
            CASE
                WHEN f.commit_id IS NOT NULL
                    THEN 'its write %s is committed already, and others are not'
                ELSE 'the files of its write %s were removed'
            END,
            w.write_number
        ) AS problem
    INTO v_other
    FROM omd_lake._writes_of(p_commits) AS w
    INNER JOIN omd_lake.write_folder AS f
        ON f.module_instance_id = p_module_instance_id
            AND f.write_number = w.write_number
            AND f.table_code = w.table_code
    WHERE f.commit_id IS NOT NULL OR f.removed_datetime IS NOT NULL
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM022',
            jsonb_build_object(
                'table_code', v_other.table_code,
                'of_table', ' of ' || v_other.table_code,
                'problem', v_other.problem
            )
        );
    END IF;
    RETURN NULL;
END
$former_commits$;

COMMENT ON FUNCTION omd_lake._former_commits IS
'Returns the commits that the Module Instance p_module_instance_id made of p_commits in an earlier'
' call; NULL when none of their writes is committed. Errors: OM022: some are, or their folder was '
'removed. Locks: none.';
