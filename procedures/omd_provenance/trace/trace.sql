-- Whoever may read rows traces a row without being a reader of runs, so both ask one routine below.

CREATE OR REPLACE FUNCTION omd_provenance.trace(
    p_module_instance_id bigint,
    p_direction text DEFAULT 'BOTH',
    p_depth integer DEFAULT 20
)
RETURNS TABLE (
    direction text,
    distance integer,
    module_instance_id bigint,
    module_code text,
    module_kind_code text,
    table_code text,
    because_of bigint,
    is_exact boolean,
    stands boolean,
    delivery_id bigint,
    delivery_status text,
    files text[],
    text text
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        t.direction,
        t.distance,
        t.module_instance_id,
        t.module_code,
        t.module_kind_code,
        t.table_code,
        t.because_of,
        t.is_exact,
        t.stands,
        t.delivery_id,
        t.delivery_status,
        t.files,
        t.text
    FROM omd_provenance._trace(p_module_instance_id, p_direction, p_depth) AS t;
END;

COMMENT ON FUNCTION omd_provenance.trace IS
'Returns the way of the rows of the run p_module_instance_id through all rooms, a row per run: '
'itself (direction SELF), its sources and theirs (UP), its readers and theirs (DOWN), each by the '
'shortest way. distance: steps from the run; because_of: the run on the way; is_exact: the ledger '
'knows it, else it may have read; stands: it has succeeded and was not undone; files: the files of '
'its delivery. What was undone is here too, and text says who took a delivery back and why. '
'p_direction: UP, DOWN or BOTH. p_depth: how many steps far. Errors: OM004: there is no such run; '
'OM005: an argument is NULL; OM006: p_direction or p_depth is unknown. Locks: none. May be NULL: '
'because_of, delivery_id, delivery_status, files.';
GRANT EXECUTE ON FUNCTION omd_provenance.trace TO omd_reader;
