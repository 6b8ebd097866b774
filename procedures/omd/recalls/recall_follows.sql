-- A load window starts where the one before it ended, so a run of a Module with load windows takes
-- every later one along; and a rollback of the Module's own takes its companions along.

CREATE OR REPLACE FUNCTION omd.recall_follows(
    p_instance_array bigint[],
    p_again_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    because_of bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_follows$
BEGIN
    RETURN QUERY
    WITH own AS MATERIALIZED (
        SELECT
            mi.module_id,
            array_agg(mi.module_instance_id) AS instance_array,
            min(mi.module_instance_id) AS first_id
        FROM omd.module_instance AS mi
        INNER JOIN omd.module AS m USING (module_id)
        WHERE mi.module_instance_id = ANY(p_instance_array)
            AND m.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
            AND mi.execution_status_code = 'S'
            AND mi.rolled_back_by_module_instance_id IS NULL
        GROUP BY mi.module_id
    ),

    follower AS MATERIALIZED (
        SELECT
            o.first_id,
            unnest(
                omd._with_later_windows(o.module_id, o.instance_array)
                || omd._direct_companions(o.module_id, o.instance_array)
            ) AS id
        FROM own AS o
    )

    SELECT
        mi.module_instance_id,
        min(f.first_id)
    FROM follower AS f
    INNER JOIN omd.module_instance AS mi ON f.id = mi.module_instance_id
    WHERE mi.execution_status_code = 'S'
        AND mi.rolled_back_by_module_instance_id IS NULL
        AND mi.next_run_indicator <> 'R'
        AND NOT mi.module_instance_id = ANY(p_instance_array)
    GROUP BY mi.module_instance_id;
END
$recall_follows$;

COMMENT ON FUNCTION omd.recall_follows IS
'For rooms: Returns the runs that stand and must go with those of p_instance_array that are of '
'kind SQL or JOB, and because of which: the later ones of a Module with load windows, and those '
'of companions. p_again_array: those that come again; it changes nothing here. Locks: none.';
