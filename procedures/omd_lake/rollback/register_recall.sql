-- The run of a recall is there only in its transaction. What is staged before needs one that can
-- die and leave folders which are found.

CREATE OR REPLACE PROCEDURE omd_lake.register_recall()
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_recall$
BEGIN
    PERFORM omd_lake._register_helper(
        'omd_lake_recall', 'omd_lake.recall', 'The part of recalls in lake tables: omd recall.'
    );
END
$register_recall$;

COMMENT ON PROCEDURE omd_lake.register_recall IS
'For the driver: '
'Registers the built-in Module omd_lake_recall, if it is not there. Its runs write and commit what '
'takes other runs back from lake tables. Locks: its row. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lake.register_recall TO omd_runner;
