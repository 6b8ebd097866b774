-- A path on this machine is written with its scheme or without, and with any number of slashes
-- behind it: so both are compared without. What lies elsewhere was not moved.

CREATE OR REPLACE FUNCTION omd_delivery._move_files(
    p_delivery_id bigint,
    p_folder text,
    p_moved_to text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $move_files$
DECLARE
    v_scheme CONSTANT text := '^file:(?://[^/]*)?(?=/)';
    v_location text;
BEGIN
    SELECT rtrim(regexp_replace(a.arrival ->> 'location', v_scheme, ''), '/') || '/'
    INTO v_location
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.agreement AS a USING (agreement_id)
    WHERE d.delivery_id = p_delivery_id;
    UPDATE omd_delivery.delivery_file AS f SET
        uri = coalesce(substring(f.uri FROM v_scheme), '') || v_location || p_moved_to
        || substr(regexp_replace(f.uri, v_scheme, ''), length(v_location || p_folder) + 1),
        root = CASE
            WHEN starts_with(regexp_replace(f.root, v_scheme, ''), v_location || p_folder || '/')
                THEN coalesce(substring(f.root FROM v_scheme), '') || v_location || p_moved_to
                || substr(regexp_replace(f.root, v_scheme, ''), length(v_location || p_folder) + 1)
            ELSE f.root
        END
    WHERE f.delivery_id = p_delivery_id
        AND starts_with(regexp_replace(f.uri, v_scheme, ''), v_location || p_folder || '/');
END
$move_files$;

COMMENT ON FUNCTION omd_delivery._move_files IS
'Notes that the files of the delivery p_delivery_id which were in p_folder of the location of its '
'agreement are in p_moved_to there. Locks: their rows.';
