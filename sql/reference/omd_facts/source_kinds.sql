-- Whoever reads a block of facts calls these routines by their names.

UPDATE omd.source_kind AS k SET
    show_routine = 'omd_facts.show_block',
    check_routine = 'omd_facts.may_end',
    plan_routine = 'omd_facts.plan_changes',
    next_routine = 'omd_facts.next_change',
    view_routine = 'omd_facts.changes_view',
    at_routine = 'omd_facts.change_at'
WHERE k.source_kind_code = 'FACTS';
