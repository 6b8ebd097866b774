-- A plan is made with the rights of the caller, who reads this.

CREATE OR REPLACE FUNCTION omd_provenance._withdrawals(
    p_again_array bigint[]
)
RETURNS TABLE (
    delivery_id bigint,
    because_of bigint,
    comes_again text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $withdrawals$
BEGIN
    RETURN QUERY
    SELECT w.delivery_id, w.because_of, w.comes_again
    FROM omd_delivery.recall_withdrawals(p_again_array) AS w;
END
$withdrawals$;

COMMENT ON FUNCTION omd_provenance._withdrawals IS
'Returns the deliveries that are not accepted yet and in the way of those of the runs '
'p_again_array when these come again. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._withdrawals TO omd_admin;
