-- What is wrong with one commit is in _commit_problem; here is what concerns all of them.

CREATE OR REPLACE FUNCTION omd_lake._require_commits(
    p_commits jsonb,
    p_has_run boolean
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_commits$
DECLARE
    v_table_code text;
    v_problem text;
BEGIN
    p_commits := omd.require_argument('p_commits', p_commits);
    IF jsonb_typeof(p_commits) <> 'array' THEN
        v_problem := 'it is no array';
    ELSE
        SELECT c.item ->> 'table', p.problem INTO v_table_code, v_problem
        FROM jsonb_array_elements(p_commits) WITH ORDINALITY AS c (item, n)
        CROSS JOIN LATERAL omd_lake._commit_problem(c.item, p_has_run) AS p (problem)
        WHERE p.problem IS NOT NULL
        ORDER BY c.n
        LIMIT 1;
        IF NOT FOUND THEN
            SELECT omd.spell_table(c.item ->> 'table'), 'it is there twice'
            INTO v_table_code, v_problem
            FROM jsonb_array_elements(p_commits) AS c (item)
            GROUP BY 1
            HAVING count(*) > 1
            LIMIT 1;
        END IF;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM022',
            jsonb_build_object(
                'table_code', v_table_code,
                'of_table', coalesce(' of ' || v_table_code, ''),
                'problem', v_problem
            )
        );
    END IF;
END
$require_commits$;

COMMENT ON FUNCTION omd_lake._require_commits IS
'Refuses commits p_commits that commit_tables does not take. p_has_run: whether a run commits. '
'Errors: OM005, OM022. Locks: none.';
