-- A delivery knows how many rows it changed, and changes none before it succeeds; of other runs the
-- counts are what somebody has said. A run whose rows and success are one transaction has none
-- before it succeeded.

CREATE OR REPLACE FUNCTION omd_provenance._may_have_rows(
    p_run omd.ledger_run,
    p_module omd.ledger_module
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        (p_run).execution_status_code IN ('S', 'E', 'F')
        AND (p_run).processing_indicator IN ('P', 'R')
        AND NOT (
            ((p_run).is_session_bound OR (p_run).is_one_transaction)
            AND (p_run).execution_status_code <> 'S'
        )
        AND NOT (
            (p_module).module_code LIKE 'lvl.%'
            AND (p_module).module_kind_code = 'PART'
            AND (
                (p_run).execution_status_code <> 'S'
                OR (p_run).rows_inserted + (p_run).rows_updated + (p_run).rows_deleted = 0
            )
        );
END;

COMMENT ON FUNCTION omd_provenance._may_have_rows IS
'Answers whether the run p_run of the Module p_module may have written rows that others have '
'seen. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._may_have_rows TO omd_reader;
