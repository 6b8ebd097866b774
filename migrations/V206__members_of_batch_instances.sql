-- phase: expand
-- V206: a Batch Instance knows the members that were tried and have left no instance. Applied once.

ALTER TABLE omd.batch_instance ADD COLUMN IF NOT EXISTS tried_members jsonb;
COMMENT ON COLUMN omd.batch_instance.tried_members IS
'The members that were tried and have left no instance that says how they ended: by type and code '
'("MODULE m_x") what is said of the failure, which may be empty, or null where there was nothing '
'to do. NULL: there are none.';
