-- A run with R is undone by the next begin, so it does not stand any more. A reload stands until a
-- later one has succeeded, even where that one is undone: the table is empty then.

CREATE OR REPLACE FUNCTION omd_provenance._stands(
    p_run omd.ledger_run
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        (p_run).execution_status_code = 'S'
        AND (p_run).rolled_back_by_module_instance_id IS NULL
        AND (p_run).next_run_indicator <> 'R'
        AND NOT (
            EXISTS (
                SELECT FROM omd.ledger_declaration AS d
                WHERE
                    d.module_id = (p_run).module_id
                    AND d.replaces_all
                    AND d.after_id < (p_run).module_instance_id
                    AND (d.upto_id IS NULL OR d.upto_id >= (p_run).module_instance_id)
            )
            AND EXISTS (
                SELECT FROM omd.ledger_run AS later
                WHERE
                    later.module_id = (p_run).module_id
                    AND later.module_instance_id > (p_run).module_instance_id
                    AND later.execution_status_code = 'S'
            )
        );
END;

COMMENT ON FUNCTION omd_provenance._stands IS
'Answers whether the run p_run stands: it succeeded, is not undone and is not to be, and no later '
'run has replaced all that it wrote. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._stands TO omd_reader;
