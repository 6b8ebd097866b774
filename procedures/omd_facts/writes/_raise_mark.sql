-- LVL must not overtake what was written by hand with older data.

CREATE OR REPLACE FUNCTION omd_facts._raise_mark(
    p_entity_id integer,
    p_at timestamptz
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_mark$
BEGIN
    INSERT INTO omd_facts.entity_mark AS k (entity_id, mark_datetime) VALUES (p_entity_id, p_at)
    ON CONFLICT (entity_id) DO UPDATE SET mark_datetime = excluded.mark_datetime
    WHERE k.mark_datetime < excluded.mark_datetime;
    PERFORM omd_delivery.raise_high_water_mark(p_entity_id, p_at);
END
$raise_mark$;

COMMENT ON FUNCTION omd_facts._raise_mark IS
'Raises the marks of the entity p_entity_id in both rooms to p_at. Locks: the interface, the '
'marks.';
