-- phase: expand
-- V199: a worker says how many tasks it runs at once, so that somebody can say how many sessions it
-- needs. Applied once.

ALTER TABLE omd_dispatch.backend_registration ADD COLUMN slots integer;

COMMENT ON COLUMN omd_dispatch.backend_registration.slots IS
'How many tasks it runs at once; NULL: it has not said so.';
