-- Who looks up what the other makes waits for him as he waits for them, and nothing would ever come
-- again. Rows that wait for their rollback are worse than none, so they are waited for still.

CREATE OR REPLACE FUNCTION omd.awaited_circles()
RETURNS TABLE (
    module_id integer,
    reader_id integer
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $awaited_circles$
BEGIN
    IF NOT EXISTS (SELECT FROM omd.awaited()) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE awaited AS MATERIALIZED (
        SELECT a.* FROM omd.awaited_tables() AS a
    ),

    direct AS MATERIALIZED (
        SELECT DISTINCT
            a.module_id AS source_id,
            i.module_id AS reader_id
        FROM awaited AS a
        INNER JOIN omd.module_input AS i ON a.table_code = i.table_code
        WHERE i.upto_id IS NULL AND i.module_id IN (SELECT o.module_id FROM awaited AS o)
    ),

    way AS (
        SELECT d.source_id, d.reader_id FROM direct AS d
        UNION
        SELECT w.source_id, d.reader_id
        FROM way AS w
        INNER JOIN direct AS d ON w.reader_id = d.source_id
    ),

    pending AS MATERIALIZED (
        SELECT DISTINCT mi.module_id
        FROM omd.pending_recall AS p
        INNER JOIN omd.module_instance AS mi USING (module_instance_id)
        WHERE mi.rolled_back_by_module_instance_id IS NULL AND mi.next_run_indicator = 'R'
    )

    SELECT there.source_id, there.reader_id
    FROM way AS there
    INNER JOIN way AS back
        ON there.source_id = back.reader_id AND there.reader_id = back.source_id
    WHERE there.source_id <> there.reader_id
        AND (
            there.source_id NOT IN (SELECT p.module_id FROM pending AS p)
            OR there.reader_id IN (SELECT p.module_id FROM pending AS p)
        );
END
$awaited_circles$;

COMMENT ON FUNCTION omd.awaited_circles IS
'For rooms: Returns the Modules in omd.awaited_tables() that read in turn, directly or not, what '
'the Module reader_id makes, so that this one does not wait for them. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.awaited_circles TO omd_reader, omd_runner;
