-- A trigger logs the edit, so this procedure does not.

CREATE OR REPLACE PROCEDURE omd.register_area(
    p_area_code text,
    p_layer_code text DEFAULT NULL,
    p_area_description text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_area$
DECLARE
    v_layer_code text := omd.require_code('layer', p_layer_code);
    v_area_code text;
BEGIN
    PERFORM omd.require_name('p_area_code', p_area_code);
    SELECT a.area_code INTO v_area_code
    FROM omd.area AS a
    WHERE upper(a.area_code) = upper(p_area_code);
    IF NOT FOUND AND v_layer_code IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_layer_code'));
    END IF;

    INSERT INTO omd.area AS a (area_code, layer_code, area_description)
    VALUES (
        coalesce(v_area_code, p_area_code),
        coalesce(v_layer_code, ''),
        coalesce(p_area_description, '')
    )
    ON CONFLICT (area_code) DO UPDATE SET
        layer_code = coalesce(v_layer_code, a.layer_code),
        area_description = coalesce(p_area_description, a.area_description);
END
$register_area$;

COMMENT ON PROCEDURE omd.register_area IS
'Adds the area p_area_code, or changes it; a NULL argument keeps the present value, and the case '
'of a known code does not matter. p_layer_code: Staging, Integration or Presentation; a new area '
'needs it. p_area_description: what it holds. A Module of an area that you add is rolled back by a '
'template of your own (omd.rollback_template). Errors: OM005, OM006 (unknown layer), OM013. '
'Locks: the area row.';
GRANT EXECUTE ON PROCEDURE omd.register_area TO omd_admin;
