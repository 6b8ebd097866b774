-- The walk itself can also stop on the way; who takes something back needs all of it.

CREATE OR REPLACE FUNCTION omd_provenance.readers_of(
    p_module_instance_id bigint,
    p_all boolean DEFAULT FALSE
)
RETURNS TABLE (
    distance integer,
    module_instance_id bigint,
    module_code text,
    module_kind_code text,
    table_code text,
    because_of bigint,
    is_exact boolean,
    stands boolean
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        w.distance,
        w.module_instance_id,
        w.module_code,
        w.module_kind_code,
        w.table_code,
        w.because_of,
        w.is_exact,
        w.stands
    FROM omd_provenance._runs_within(p_module_instance_id, FALSE, p_all, NULL, NULL) AS w;
END;

COMMENT ON FUNCTION omd_provenance.readers_of IS
'Returns the runs that have read, or may have read, rows of the run p_module_instance_id, and '
'those that have read rows of these, and so on; each once, by the shortest way. distance: 1 is '
'directly; table_code: through which table; because_of: whose rows it has read; is_exact: the '
'ledger knows it, else it may have; stands: it succeeded, is not undone and not replaced. p_all: '
'also what does not stand: runs undone, at work or failed, and reloads that a later one replaced. '
'Errors: OM004: there is no such run; OM005: p_module_instance_id is NULL. Locks: none. See '
'docs/explanation/provenance.md. Call again when the answer was lost.';
GRANT EXECUTE ON FUNCTION omd_provenance.readers_of TO omd_reader;
