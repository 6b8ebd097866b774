-- Plans and receipts say the actions as the model does.

CREATE OR REPLACE FUNCTION omd_delivery._action_name(
    p_action text
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $action_name$
BEGIN
    RETURN CASE p_action
        WHEN 'S' THEN 'SKIP ROW' WHEN 'E' THEN 'EMPTY COLUMN' WHEN 'N' THEN 'NO ACTION'
    END;
END
$action_name$;

COMMENT ON FUNCTION omd_delivery._action_name IS
'Returns the action with the code p_action in words, NULL for NULL. Locks: none.';
