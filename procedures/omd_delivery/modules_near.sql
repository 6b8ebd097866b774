-- What waits for a delivery: those of the same interface, its facts, and what is exported of them.
-- The payload of a notification may be of anybody, so what is no number is passed over.

CREATE OR REPLACE FUNCTION omd_delivery.modules_near(
    p_codes text[],
    p_news jsonb
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $modules_near$
BEGIN
    RETURN ARRAY(
        WITH news AS (
            SELECT
                n.value ->> 'interface' AS interface_code,
                n.value ->> 'agreement_code' AS agreement_code,
                CASE
                    WHEN n.value ->> 'delivery_id' ~ '^[0-9]{1,18}$'
                        THEN (n.value ->> 'delivery_id')::bigint
                END AS delivery_id
            FROM jsonb_array_elements(p_news) AS n (value)
            WHERE jsonb_typeof(n.value) = 'object'
        ),

        touched AS (
            SELECT i.interface_id
            FROM omd_delivery.interface AS i
            WHERE i.interface_code IN (SELECT n.interface_code FROM news AS n)
                OR 'facts.' || i.interface_code = ANY(p_codes)
            UNION
            SELECT a.interface_id
            FROM omd_delivery.agreement AS a
            WHERE a.agreement_code IN (SELECT n.agreement_code FROM news AS n)
                OR a.batch_code = ANY(p_codes)
                OR 'export.' || a.agreement_code = ANY(p_codes)
            UNION
            SELECT a.interface_id
            FROM news AS n
            INNER JOIN omd_delivery.delivery AS d ON n.delivery_id = d.delivery_id
            INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
        )

        SELECT 'facts.' || i.interface_code
        FROM touched AS t
        INNER JOIN omd_delivery.interface AS i ON t.interface_id = i.interface_id
        UNION
        SELECT c.module_code
        FROM touched AS t
        INNER JOIN omd_delivery.agreement AS a ON t.interface_id = a.interface_id
        CROSS JOIN LATERAL (
            VALUES (a.batch_code), ('export.' || a.agreement_code)
        ) AS c (module_code)
        WHERE c.module_code IS NOT NULL
    );
END
$modules_near$;

COMMENT ON FUNCTION omd_delivery.modules_near IS
'For rooms: Returns the codes of the Modules that deliver, load or export the interfaces that the '
'Modules p_codes deliver, load or export, or that the notifications p_news name, an array of what '
'the channel omd_delivery tells. Locks: none.';
REVOKE ALL ON FUNCTION omd_delivery.modules_near FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_delivery.modules_near TO omd_reader;
