-- It is emptied after the exchange has committed, and before the next one, in case that was the end
-- of the former.

CREATE OR REPLACE FUNCTION omd_dispatch._empty_spare_partition(
    p_family_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $empty_spare_partition$
DECLARE
    v_is_filled boolean;
BEGIN
    EXECUTE format(
        'LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', omd_dispatch._data_table(p_family_code, '_swap')
    );
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %s)', omd_dispatch._data_table(p_family_code, '_swap')
    ) INTO v_is_filled;
    IF v_is_filled THEN
        -- What a purge takes from the master goes from the copy too.
        IF omd_dispatch._migration_status(p_family_code) = 3 THEN
            EXECUTE format(
                'DELETE FROM %2$s AS o USING %1$s AS s WHERE o.task_id = s.task_id;'
                ' DELETE FROM omd_dispatch.%3$I AS c USING %1$s AS s WHERE c.task_id = s.task_id',
                omd_dispatch._data_table(p_family_code, '_swap'),
                omd_dispatch._model_table(p_family_code, FALSE),
                'old_task_criteria_' || lower(p_family_code)
            );
        END IF;
        EXECUTE format('TRUNCATE TABLE %s', omd_dispatch._data_table(p_family_code, '_swap'));
    END IF;
END
$empty_spare_partition$;

COMMENT ON FUNCTION omd_dispatch._empty_spare_partition IS
'Empties the spare partition of p_family_code. Locks: the spare partition, '
'ACCESS EXCLUSIVE.';
GRANT EXECUTE ON FUNCTION omd_dispatch._empty_spare_partition TO omd_admin;
