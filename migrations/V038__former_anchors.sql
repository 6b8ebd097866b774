-- V038: what an undo can't tell from the contexts: how a key that was removed physically was before
-- it came back. Applied once.

ALTER TABLE omd_facts.entity ADD COLUMN has_removals boolean NOT NULL DEFAULT FALSE;
COMMENT ON COLUMN omd_facts.entity.has_removals IS
'Keys of its anchor have been removed physically.';

ALTER TABLE omd_facts.load_log ADD COLUMN former_anchors jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN omd_facts.load_log.former_anchors IS
'Anchors that had been removed physically, as they were before it: per entity and acm_id the '
'latest start, the last creation, and who removed it.';
